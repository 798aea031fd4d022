// The hostile DLL suite: whatever a debug DLL does, it costs at most its own walk. The error says
// which DLL, what it did and where; what was complete before stays; other walks go on; and nothing
// is left of it.

#include "host/memory/page_store.h"
#include "rsp/packet/printable.h"
#include "tests/mqs/hostile/hostile_cases.h"
#include "tests/mqs/hostile/hostile_dll.h"
#include "tests/mqs/storing_memory.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using test::CodeCase;
using test::HostileCase;
using test::Stage;
using test::TempDirectory;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

/// Every text that a user gets to see.
std::vector<std::string> texts_of(const WalkResult& result) {
  auto texts = result.dll_messages;
  texts.push_back(result.dll_version);
  if (result.failure)
    texts.insert(texts.end(), {result.failure->message, result.failure->hint});
  for (const auto& communicator : result.communicators) {
    for (const auto& queue : communicator.queues)
      texts.push_back(queue.error.value_or(""));
  }
  return texts;
}

/// A walk with a hostile DLL, while another rank of the same job is walked with a good one, and
/// what must hold after any of them.
class Hostile : public testing::Test {
#ifdef __SANITIZE_ADDRESS__
  static constexpr auto patience = 90s; // what a walk has found is checked at a third of the speed
#else
  static constexpr auto patience = 10s;
#endif

protected:
  void SetUp() override {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what would escape becomes ours, and is seen
    descriptors_before_ = open_descriptors();
    test::faults_tried(1);
  }

  WalkResult walk(const std::string& evil, const std::string& place,
                  std::chrono::milliseconds limit = 30s) {
    const auto dll = test::make_hostile_dll(directory_.path(), evil, place);
    const auto from = std::chrono::steady_clock::now();
    WalkResult result;
    {
      std::jthread other([this] { walk_another_rank(); });
      result = walk_with(dll, limit);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - from, limit + patience);
    expect_nothing_is_left();
    expect_texts_are_fit_to_be_shown(result);
    return result;
  }

  static const Queue& receives(const WalkResult& result, std::size_t communicator) {
    return result.communicators.at(communicator).queue(OpClass::receive);
  }

  static void expect_complete(const WalkResult& result, std::size_t communicator) {
    ASSERT_GT(result.communicators.size(), communicator);
    EXPECT_EQ(receives(result, communicator).state, QueueState::available);
    EXPECT_EQ(receives(result, communicator).total, 3U);
  }

private:
  WalkResult walk_with(const std::filesystem::path& dll, std::chrono::milliseconds limit) {
    TestTarget target(test_platforms().front());
    auto store = PageStore::create(16 << 20);
    EXPECT_TRUE(store);
    StoringMemory memory(target.memory, **store);
    const auto like = target.request("PLAIN");
    WalkRequest request{like.worker, dll, {target.images, memory, target.platform}, "solver"};
    request.op_classes = like.op_classes;
    request.cpu_limit = limit;
    request.store = store->get();
    request.max_operations = 5000;
    request.max_rank_operations = 20'000;
    request.sandboxed = like.sandboxed;
    auto result = walk_queues(request);
    expect_the_store_is_true(target, memory);
    return result;
  }

  /// Nothing that the DLL did in its process changed what is known of the target.
  static void expect_the_store_is_true(TestTarget& target, StoringMemory& memory) {
    const auto root = target.images.find_symbol("test_queue_root")->address;
    std::array<std::byte, 64> stored{};
    std::array<std::byte, 64> true_bytes{};
    EXPECT_EQ(memory.read(root, stored).value(), stored.size());
    EXPECT_EQ(target.memory.read(root, true_bytes).value(), true_bytes.size());
    EXPECT_EQ(stored, true_bytes);
  }

  static void walk_another_rank() {
    TestTarget target(test_platforms().front());
    const auto result = walk_queues(target.request("PLAIN"));
    EXPECT_FALSE(result.failure) << result.failure->message;
    EXPECT_EQ(receives(result, 0).total, 3U);
  }

  void expect_nothing_is_left() const {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
    EXPECT_EQ(open_descriptors(), descriptors_before_);
  }

  static void expect_texts_are_fit_to_be_shown(const WalkResult& result) {
    EXPECT_LE(result.dll_messages.size(), 203U);
    for (const auto& text : texts_of(result)) {
      EXPECT_EQ(text, printable(text));
      EXPECT_LE(text.size(), 20'000U);
    }
  }

  TempDirectory directory_;
  std::size_t descriptors_before_ = 0;
};

class HostileDll : public Hostile, public testing::WithParamInterface<HostileCase> {
protected:
  static void expect_failure(const WalkResult& result, const std::string& place) {
    const auto& [evil, at, code, words, endless] = GetParam();
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->code, code) << result.failure->message;
    EXPECT_THAT(result.failure->message, HasSubstr(evil + "-in-" + at + ".so"));
    EXPECT_THAT(result.failure->hint, Not(IsEmpty()));
    for (const auto& word : words)
      EXPECT_THAT(result.failure->message, HasSubstr(word));
    if (code != "dll.protocol" && code != "dll.limit" && code != "dll.no_queues" &&
        code != "walk.max_operations") {
      EXPECT_THAT(result.failure->message,
                  AnyOf(HasSubstr(place), HasSubstr("outside of its functions")));
    }
    if (test::stage_of(at) == Stage::within)
      expect_complete(result, 0);
  }

  /// After everything was said: no more than a note.
  static void expect_note(const WalkResult& result) {
    EXPECT_FALSE(result.failure) << result.failure->message;
    expect_complete(result, 0);
    expect_complete(result, 1);
    EXPECT_THAT(result.dll_messages,
                Contains(AllOf(StartsWith("afterwards:"), HasSubstr(GetParam().evil))));
  }

  /// An overrun names the function in which the DLL never ends.
  static bool is_where_it_should_be(const WalkResult& result) {
    const std::string place = GetParam().place == "constructor" ? "dlopen" : GetParam().place;
    return test::stage_of(place) == Stage::after || !result.failure ||
           result.failure->message.find(place) != std::string::npos;
  }

  static void expect_survival(const WalkResult& result) {
    ASSERT_FALSE(result.failure) << result.failure->message;
    expect_complete(result, 0);
    ASSERT_THAT(result.communicators, SizeIs(2));
    const auto& last = receives(result, 1);
    if (GetParam().place == "mqs_dll_error_string")
      EXPECT_EQ(last.state, QueueState::error);
    else
      expect_complete(result, 1);
    EXPECT_THAT(last.operations, SizeIs(3));
  }
};

TEST_P(HostileDll, CostsAtMostItsOwnWalk) {
  const HostileCase& which = GetParam();
  auto result = walk(which.evil, which.place, which.is_endless ? 1s : 30s);
  // On a machine that does much else a worker may take longer to get there.
  for (const auto limit : {5s, 20s})
    if (which.is_endless && !is_where_it_should_be(result))
      result = walk(which.evil, which.place, limit);
  if (which.code == "any")
    return;
  if (which.code.empty())
    expect_survival(result);
  else if (test::stage_of(which.place) == Stage::after)
    expect_note(result);
  else
    expect_failure(result, which.place == "constructor" ? "dlopen" : which.place);
}

INSTANTIATE_TEST_SUITE_P(, HostileDll, testing::ValuesIn(test::hostile_cases()),
                         [](const auto& of) { return test::name_of(of.param); });

class UnknownCode : public Hostile, public testing::WithParamInterface<CodeCase> {};

TEST_P(UnknownCode, EndsWhatItIsTheAnswerTo) {
  const auto& [evil, place, cost, code] = GetParam();
  const auto result = walk(evil, place);
  if (cost == CodeCase::Cost::walk) {
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->code, code) << result.failure->message;
    EXPECT_THAT(result.failure->message, HasSubstr(evil + "-in-" + place + ".so"));
    if (test::stage_of(place) == Stage::within)
      expect_complete(result, 0);
    return;
  }
  EXPECT_FALSE(result.failure) << result.failure->message;
  expect_complete(result, 0);
  ASSERT_THAT(result.communicators, SizeIs(2));
  const auto& last = result.communicators[1];
  EXPECT_EQ(last.group.has_value(), cost != CodeCase::Cost::group);
  if (cost != CodeCase::Cost::queue)
    return expect_complete(result, 1);
  EXPECT_EQ(receives(result, 1).state, QueueState::error);
  EXPECT_EQ(receives(result, 1).error, "an error of the hostile DLL");
  EXPECT_EQ(last.queue(OpClass::unexpected).state, QueueState::available);
}

INSTANTIATE_TEST_SUITE_P(, UnknownCode, testing::ValuesIn(test::code_cases()),
                         [](const auto& of) { return of.param.evil + "_of_" + of.param.place; });

TEST_F(Hostile, AnEndlessQueueEndsAtItsLimitAndTheOthersAreComplete) {
  const auto result = walk("list_operations_for_ever", "mqs_next_operation");
  EXPECT_FALSE(result.failure);
  expect_complete(result, 0);
  EXPECT_THAT(receives(result, 1).operations, SizeIs(5000));
  EXPECT_EQ(receives(result, 1).truncated_by, TruncatedBy::operations);
  EXPECT_EQ(result.communicators.at(1).queue(OpClass::unexpected).state, QueueState::available);
}

TEST_F(Hostile, WhatIsWrittenBehindAStructureIsNotShown) {
  EXPECT_EQ(walk("beyond_the_communicator", "mqs_get_communicator").communicators.at(1).name,
            std::string(64, 'n'));
  const auto operation = walk("beyond_the_operation", "mqs_next_operation");
  EXPECT_THAT(receives(operation, 1).operations.at(1).text, SizeIs(5));
  const auto group = walk("beyond_the_group", "mqs_get_comm_group").communicators.at(1).group;
  EXPECT_THAT(*group, SizeIs(2));
}

TEST_F(Hostile, ACommunicatorOfNoPossibleSizeHasNoGroup) {
  for (const char* evil : {"size_minus_1", "size_int_max", "size_2_40", "size_min", "size_max"}) {
    const auto result = walk(evil, "mqs_get_communicator");
    EXPECT_FALSE(result.communicators.at(1).group) << evil;
    EXPECT_THAT(result.dll_messages, Contains(HasSubstr("its group was not read"))) << evil;
  }
}

/// So slow for what is not there that the worker is through before the answer comes.
class SlowMemory final : public Memory {
public:
  explicit SlowMemory(Memory& below) : below_(below) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    auto done = below_.read_ranges(ranges);
    if (ranges.front().read == 0)
      std::this_thread::sleep_for(300ms);
    return done;
  }

private:
  Memory& below_;
};

TEST(LastWord, CountsThoughNobodyWaitsForTheReplyBeforeIt) {
  const TempDirectory directory;
  TestTarget target(test_platforms().front());
  SlowMemory memory(target.memory);
  const auto like = target.request("PLAIN");
  const auto dll =
      test::make_hostile_dll(directory.path(), "leave_a_reply_unread", "mqs_version_string");
  WalkRequest request{like.worker, dll, {target.images, memory, target.platform}, "solver"};
  request.op_classes = like.op_classes;
  request.sandboxed = like.sandboxed;
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.communicators, SizeIs(2));
  EXPECT_EQ(result.communicators[1].queue(OpClass::receive).total, 3U);
}

TEST(HostileSuite, TriesEveryEvilOfTheDll) {
  std::set<std::string> tried{"list_operations_for_ever"};
  for (const auto& each : test::hostile_cases())
    tried.insert(each.evil);
  for (const auto& each : test::code_cases())
    tried.insert(each.evil);
  const auto known = test::all_evils();
  EXPECT_EQ(tried, std::set<std::string>(known.begin(), known.end()));
}

} // namespace
} // namespace mqbridge
