// Debug DLLs that misbehave: each costs an error that says what happened, never the host, and what
// was found before is kept.

#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using namespace std::chrono_literals;

WalkResult walk(const std::string& behaviour, std::chrono::milliseconds limit = 10s) {
  TestTarget target(test_platforms().front());
  auto request = target.request(behaviour);
  request.cpu_limit = limit;
  return walk_queues(request);
}

const Communicator& only(const WalkResult& result) {
  return result.communicators.at(0);
}

struct Fault {
  const char* dll;
  const char* code;
  std::vector<const char*> words; ///< that the message must have
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.dll;
}

class DllFault : public testing::TestWithParam<Fault> {};

TEST_P(DllFault, IsNamed) {
  test::faults_tried(1);
  const auto result = walk(GetParam().dll, 1s);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, GetParam().code);
  EXPECT_THAT(result.failure->message, HasSubstr(std::string(GetParam().dll) + ".so"));
  for (const char* word : GetParam().words)
    EXPECT_THAT(result.failure->message, HasSubstr(word));
  EXPECT_THAT(result.failure->hint, Not(IsEmpty()));
  EXPECT_THAT(result.communicators, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    , DllFault,
    testing::Values(
        Fault{"no_such_file", "dll.load", {"cannot open shared object file"}},
        Fault{"NO_NEXT_COMMUNICATOR", "dll.missing_function", {"mqs_next_communicator"}},
        Fault{"VERSION_1", "dll.version", {"level 1"}}, Fault{"WIDTH_4", "dll.width", {"4-byte"}},
        Fault{"CONSTRUCTOR_CRASHES", "dll.crashed", {"SIGABRT", "in dlopen"}},
        Fault{"PRINTF_REFUSAL",
              "dll.no_queues",
              {"the first user code", "no queues in solver: 100% %n%s%d"}},
        Fault{"SETUP_FAILS", "dll.failed", {"mqs_setup_image", "code 177"}},
        Fault{
            "UPDATE_FAILS", "dll.failed", {"mqs_update_communicator_list", "the first user code"}},
        Fault{"SENDS_GARBAGE", "dll.protocol", {"improper message"}},
        Fault{"CLOSES_SOCKET", "dll.crashed", {"mqs_setup_process"}},
        Fault{"PRINTS_FOR_EVER", "dll.timeout", {"mqs_setup_process"}},
        Fault{"DPRINTS_FOR_EVER", "dll.timeout", {"mqs_setup_process", "mqs_dprints"}}),
    [](const auto& of) { return std::string(of.param.dll); });

struct Death {
  const char* dll;
  const char* code;
  const char* how;
};

void PrintTo(const Death& death, std::ostream* out) {
  *out << death.dll;
}

class DllDeath : public testing::TestWithParam<Death> {};

TEST_P(DllDeath, KeepsWhatWasFoundAndNamesTheQueue) {
  test::faults_tried(1);
  const auto result = walk(GetParam().dll, 1s);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, GetParam().code);
  EXPECT_THAT(result.failure->message,
              AllOf(HasSubstr(GetParam().how), HasSubstr("mqs_next_operation")));
  ASSERT_THAT(result.communicators, SizeIs(1));
  EXPECT_EQ(only(result).queue(OpClass::send).total, 0U);
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_THAT(receives.operations, SizeIs(3));
  EXPECT_EQ(receives.state, QueueState::error);
  EXPECT_EQ(receives.reason, QueueReason::dll_failed);
  EXPECT_FALSE(receives.total);
  EXPECT_EQ(receives.error, result.failure->message);
  EXPECT_EQ(only(result).queue(OpClass::unexpected).state, QueueState::error);
}

INSTANTIATE_TEST_SUITE_P(, DllDeath,
                         testing::Values(Death{"CRASHES", "dll.crashed", "SIGSEGV"},
                                         Death{"DIVIDES_BY_ZERO", "dll.crashed", "SIGFPE"},
                                         Death{"ABORTS", "dll.crashed", "SIGABRT"},
                                         Death{"EXITS", "dll.crashed", "exit status 3"},
                                         Death{"LOOPS", "dll.timeout", "1.0 s"}),
                         [](const auto& of) { return std::string(of.param.dll); });

TEST(DllTruncation, NamesTimeAsTheReason) {
  const auto result = walk("LOOPS", 300ms);
  EXPECT_EQ(only(result).queue(OpClass::receive).truncated_by, TruncatedBy::time);
}

/// Nothing can be read, and it takes 200 ms to find out.
class SlowMemory final : public Memory {
public:
  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    const timespec pause{0, 200'000'000};
    ::nanosleep(&pause, nullptr);
    for (auto& range : ranges)
      range.read = 0;
    return {};
  }
};

WalkResult walk_slow_memory(const std::string& behaviour, std::chrono::milliseconds limit,
                            std::optional<std::chrono::steady_clock::time_point> walk_end = {}) {
  SlowMemory slow;
  TestTarget target(test_platforms().front());
  const auto from = target.request(behaviour);
  WalkRequest request{from.worker, from.dll, {target.images, slow, target.platform}, "solver"};
  request.sandboxed = from.sandboxed;
  request.op_classes = {OpClass::receive};
  request.cpu_limit = limit;
  request.walk_end = walk_end;
  return walk_queues(request);
}

TEST(DllTruncation, TimeSpentReadingMemoryIsNotTheDlls) {
  const auto result = walk_slow_memory("FETCHES_UNMAPPED", 150ms);
  EXPECT_FALSE(result.failure) << result.failure->message;
}

TEST(DllTruncation, AnImproperMessageIsNamedThoughTheWorkerEndedAsItShould) {
  // While its fetch is served, the worker comes to its end.
  const auto result = walk_slow_memory("FETCHES_AND_SENDS_GARBAGE", 10s);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.protocol");
}

TEST(DllTruncation, AnEndlessQueueEndsAtItsLimit) {
  TestTarget target(test_platforms().front());
  auto request = target.request("ENDLESS_OPERATIONS");
  request.max_operations = 5000;
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure);
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_THAT(receives.operations, SizeIs(5000));
  EXPECT_EQ(receives.truncated_by, TruncatedBy::operations);
  EXPECT_EQ(only(result).queue(OpClass::unexpected).state, QueueState::available);
}

TEST(DllTruncation, AQueueOfMoreThanTheMpiHasEndsSoonAndIsDamaged) {
  TestTarget target(test_platforms().front());
  auto request = target.request("ENDLESS_OPERATIONS");
  request.requests = 100;
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "queue.damaged");
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_THAT(receives.operations, SizeIs(testing::Le(100)));
  EXPECT_EQ(receives.state, QueueState::error);
  EXPECT_FALSE(receives.total);
}

TEST(DllTruncation, EndlessCommunicatorsEndAtTheirLimit) {
  const auto result = walk("ENDLESS_COMMUNICATORS");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.limit");
  EXPECT_THAT(result.communicators, SizeIs(65'536));
}

/// Of its own time it takes nothing: the clock on the wall counts, too.
TEST(DllTruncation, WhatLiesSlowlyEndsAtTheEndOfTheWalk) {
  const auto from = std::chrono::steady_clock::now();
  const auto result = walk_slow_memory("LIES_SLOWLY", 60s, from + 1s);
  EXPECT_LT(std::chrono::steady_clock::now() - from, 30s);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "walk.max_walk") << result.failure->message;
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_THAT(receives.operations, Not(IsEmpty()));
  EXPECT_EQ(receives.state, QueueState::error);
  EXPECT_EQ(receives.reason, QueueReason::none);
  EXPECT_EQ(receives.truncated_by, TruncatedBy::time);
  EXPECT_FALSE(receives.total);
}

/// Of which there are a few thousand to a queue here, and as many queues as it likes.
WalkResult walk_what_lies_fast(std::uint64_t max_operations, RankBudget& budget) {
  TestTarget target(test_platforms().front());
  auto request = target.request("LIES_FAST");
  request.max_operations = max_operations;
  request.max_rank_operations = 4 * max_operations;
  request.budget = &budget;
  return walk_queues(request);
}

TEST(DllTruncation, WhatLiesFastEndsAtItsOperations) {
  RankBudget budget(std::uint64_t{1} << 30, nullptr);
  const auto result = walk_what_lies_fast(5000, budget);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "walk.max_operations") << result.failure->message;
  std::size_t found = 0;
  for (const auto& communicator : result.communicators)
    for (const Queue& queue : communicator.queues)
      found += queue.operations.size();
  EXPECT_EQ(found, 4 * 5000U);
  const auto& last = result.communicators.back().queues;
  EXPECT_TRUE(std::ranges::any_of(
      last, [](const Queue& queue) { return queue.truncated_by == TruncatedBy::operations; }));
}

TEST(DllTruncation, WhatLiesFastEndsAtItsBytes) {
  constexpr std::uint64_t budget_bytes = 1 << 20;
  RankBudget budget(budget_bytes, nullptr);
  const auto result = walk_what_lies_fast(10'000'000, budget);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "walk.max_bytes") << result.failure->message;
  const auto found = only(result).queue(OpClass::send).operations.size() +
                     only(result).queue(OpClass::receive).operations.size();
  EXPECT_GT(found, budget_bytes / sizeof(Operation) / 2);
  EXPECT_LE(found, budget_bytes / sizeof(Operation));
  const auto& queues = only(result).queues;
  EXPECT_TRUE(std::ranges::any_of(queues, [](const Queue& queue) {
    return queue.truncated_by == TruncatedBy::bytes && queue.reason == QueueReason::none &&
           !queue.total;
  }));
}

TEST(DllTruncation, ADeadlineStopsTheWalkAndSaysWhatIsUnknown) {
  TestTarget target(test_platforms().front());
  auto request = target.request("LOOPS");
  request.deadline = std::chrono::steady_clock::now() + 300ms;
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "walk.max_stop");
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_THAT(receives.operations, SizeIs(3));
  EXPECT_EQ(receives.truncated_by, TruncatedBy::max_stop);
  EXPECT_FALSE(receives.total);
}

TEST(DllTruncation, AStopRequestEndsTheWalkAtOnce) {
  TestTarget target(test_platforms().front());
  auto request = target.request("LOOPS");
  std::stop_source source;
  source.request_stop();
  request.stop = source.get_token();
  const auto from = std::chrono::steady_clock::now();
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - from, 5s);
}

TEST(DllTolerance, PlainIsPlain) {
  const auto result = walk("PLAIN");
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(only(result).name, "plain");
  EXPECT_EQ(only(result).queue(OpClass::receive).total, 3U);
  EXPECT_THAT(*only(result).group, ElementsAre(8, 9));
  EXPECT_THAT(result.dll_messages, IsEmpty());
}

TEST(DllTolerance, OptionalFunctionsMayBeMissing) {
  const auto result = walk("NO_OPTIONAL");
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(only(result).group);
  EXPECT_EQ(only(result).queue(OpClass::receive).total, 3U);
}

TEST(DllTolerance, AMessageMayComeWithSuccessAndIsNeverPrintfed) {
  const auto result = walk("PRINTF_WELCOME");
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages, ElementsAre("solver has %n queues"));
}

TEST(DllTolerance, AWelcomeCanBeIgnored) {
  TestTarget target(test_platforms().front());
  auto request = target.request("PRINTF_WELCOME");
  request.ignore_welcome = true;
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages, IsEmpty());
}

TEST(DllTolerance, NamesAndTextsEndWhereTheirArraysEnd) {
  const auto result = walk("UNTERMINATED");
  EXPECT_EQ(only(result).name, std::string(64, 'n'));
  const auto& operation = only(result).queue(OpClass::receive).operations.at(0);
  EXPECT_THAT(operation.text, SizeIs(5));
  EXPECT_THAT(operation.text, testing::Each(std::string(64, 't')));
}

/// Who prints it replaces what drives a terminal.
TEST(DllTolerance, ANameIsKeptAsItIsInMemory) {
  const auto result = walk("CONTROL_CHARACTERS");
  EXPECT_EQ(only(result).name, "a\x1b[2Jb\xff\xc3\xa9");
}

/// Open MPI's DLL says 0 of every member of another job.
TEST(DllTolerance, AGroupWithOneMemberTwiceIsNotBelieved) {
  TestTarget target(test_platforms().front(),
                    {{7, 0, "merged", {0, 1, 0, 0}, {}}, {8, 0, "reversed", {1, 0}, {}}});
  const auto result = walk_queues(target.request("list"));
  ASSERT_EQ(result.communicators.size(), 2U);
  EXPECT_FALSE(result.communicators[0].group);
  EXPECT_THAT(*result.communicators[1].group, ElementsAre(1, 0));
}

TEST(DllTolerance, WritingBehindAStructureHarmsNothing) {
  const auto result = walk("OVERFILLS");
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(only(result).name, std::string(64, 'o'));
  EXPECT_THAT(*only(result).group, ElementsAre(8, 9));
  EXPECT_THAT(only(result).queue(OpClass::receive).operations, SizeIs(3));
}

class ImplausibleSize : public testing::TestWithParam<std::pair<const char*, std::int64_t>> {};

TEST_P(ImplausibleSize, AllocatesNothingAndGoesOn) {
  const auto result = walk(GetParam().first);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(only(result).size, GetParam().second);
  EXPECT_FALSE(only(result).group);
  EXPECT_EQ(only(result).queue(OpClass::receive).total, 3U);
  EXPECT_THAT(result.dll_messages, Contains(HasSubstr("its group was not read")));
}

INSTANTIATE_TEST_SUITE_P(, ImplausibleSize,
                         testing::Values(std::pair("SIZE_MINUS_1", std::int64_t{-1}),
                                         std::pair("SIZE_2_40", std::int64_t{1} << 40)),
                         [](const auto& of) { return std::string(of.param.first); });

TEST(DllTolerance, AGroupThatCannotBeReadIsUnknown) {
  const auto result = walk("GROUP_FAILS");
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(only(result).group);
}

TEST(DllTolerance, UnmappedMemoryIsACodeForTheDll) {
  const auto result = walk("FETCHES_UNMAPPED");
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(only(result).queue(OpClass::receive).operations.at(0).tag.value, 4711);
}

TEST(DllTolerance, MemoryThatACoreLeftOutIsSaidThoughTheDllIgnoresIt) {
  EXPECT_FALSE(walk("FETCHES_UNMAPPED").left_out);
  TestTarget target(test_platforms().front());
  target.memory.leave_out({0xdead0000}, {0xdead0fff});
  const auto result = walk_queues(target.request("FETCHES_UNMAPPED"));
  EXPECT_FALSE(result.failure);
  ASSERT_TRUE(result.left_out);
  EXPECT_EQ(result.left_out->code, "core.left_out");
  EXPECT_THAT(result.left_out->message, HasSubstr("0xdead0000"));
}

TEST(DllTolerance, EveryQueueEndsByItsOwnCode) {
  const auto result = walk("ITERATOR_ERRORS");
  const auto& queues = only(result).queues;
  EXPECT_EQ(queues[0].state, QueueState::error);
  EXPECT_EQ(queues[0].reason, QueueReason::dll_failed);
  EXPECT_EQ(queues[0].error, "code 142");
  EXPECT_EQ(queues[1].state, QueueState::available);
  EXPECT_EQ(queues[1].total, 0U);
  EXPECT_EQ(queues[2].state, QueueState::unavailable);
  EXPECT_EQ(queues[2].reason, QueueReason::not_provided);
}

TEST(DllTolerance, AnErrorInTheMiddleKeepsTheOperationsBeforeIt) {
  const auto result = walk("NEXT_FAILS");
  EXPECT_FALSE(result.failure) << "the other queues are not concerned";
  const auto& receives = only(result).queue(OpClass::receive);
  EXPECT_EQ(receives.state, QueueState::error);
  EXPECT_THAT(receives.operations, SizeIs(3));
  EXPECT_EQ(only(result).queue(OpClass::unexpected).state, QueueState::available);
}

TEST(DllTolerance, NoInformationAtOnceIsNotAnEmptyQueue) {
  const auto result = walk("NOTHING_TO_TELL");
  EXPECT_EQ(only(result).queue(OpClass::receive).state, QueueState::unavailable);
}

TEST(DllOutput, IsCollectedLineByLine) {
  const auto result = walk("PRINTS");
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages,
              testing::UnorderedElementsAre("to stderr", "to stdout, no newline", "dprints\\x09tab",
                                            "second line"));
}

TEST(DllOutput, IsBounded) {
  EXPECT_THAT(walk("PRINTS_FOR_EVER", 300ms).dll_messages, SizeIs(201));
  EXPECT_THAT(walk("DPRINTS_FOR_EVER", 300ms).dll_messages, SizeIs(201));
}

TEST(DllConfinement, NoEnvironmentNoDescriptorsNoInput) {
  const auto result = walk("LOOKS_AROUND");
  // 0, 1, 2 and the worker's socket.
  const std::string around = "0 variables, 4 descriptors, 0 bytes of input, group ";
  EXPECT_THAT(result.dll_messages, ElementsAre(StartsWith(around)));
  EXPECT_NE(result.dll_messages[0], around + std::to_string(::getpgrp())) << "not the host's own";
}

TEST(DllConfinement, ProcessesThatTheDllStartedEndWithIt) {
  TestTarget target(test_platforms().front());
  auto request = target.request("FORKS");
  request.sandboxed = false; // there it could not
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(only(result).queue(OpClass::receive).total, 3U);
  // Nobody of the worker's process group is left, and none of ours is a zombie.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(children), {}), "");
}

TEST(DllConfinement, AWorkerThatNeverReadsCannotBlockTheHost) {
  const auto result = walk("SENDS_AND_NEVER_READS", 2s);
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(std::string(result.failure->code), StartsWith("dll."));
}

TEST(DllConfinement, ACrashAfterTheWalkIsOnlyNoted) {
  const auto result = walk("CRASHES_IN_DESTROY");
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages, Contains(AllOf(StartsWith("afterwards:"), HasSubstr("SIGABRT"),
                                                  HasSubstr("mqs_destroy_process_info"))));
}

TEST(WorkerStart, ABinaryThatIsNoWorkerIsSaid) {
  TestTarget target(test_platforms().front());
  for (const char* binary : {"/no/such/worker", "/bin/true", "/etc/passwd"}) {
    auto request = target.request("PLAIN");
    request.worker = binary;
    const auto result = walk_queues(request);
    ASSERT_TRUE(result.failure) << binary;
    EXPECT_EQ(result.failure->code, "worker.start") << binary;
  }
}

TEST(WorkerStart, WhatALimitForbidsIsNotSaidToBeMissing) {
  TestTarget target(test_platforms().front());
  const auto request = target.request("PLAIN");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto result = walk_queues(request);
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "worker.start");
  EXPECT_THAT(result.failure->hint, HasSubstr("ulimit"));
}

} // namespace
} // namespace mqbridge
