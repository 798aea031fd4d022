// A process with the recorder, stopped where it happens to be: what the DLL reads is what was there
// before an update, or what is there after it.

#include "dll/recorder/layout.h"
#include "tests/dll/walks.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <gmock/gmock.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

/// Remembers what was read, to tell whether it has changed since: if not, the same walk would bring
/// the same.
class WatchedMemory final : public Memory {
public:
  explicit WatchedMemory(pid_t pid) : process_(pid) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    auto done = process_.read_ranges(ranges);
    for (const auto& range : ranges)
      seen_.push_back({range.address, {range.into.begin(), range.into.begin() + range.read}});
    return done;
  }

  void forget() { seen_.clear(); }

  bool changed() {
    return std::any_of(seen_.begin(), seen_.end(), [&](const Seen& seen) {
      std::vector<std::byte> now(seen.bytes.size());
      MemoryRange range{seen.address, now};
      EXPECT_TRUE(process_.read_ranges({&range, 1}));
      return now != seen.bytes;
    });
  }

private:
  struct Seen {
    TargetAddress address;
    std::vector<std::byte> bytes;
  };

  ProcessMemory process_;
  std::vector<Seen> seen_;
};

/// recorder_steps under ptrace, by this thread. Killed at the end.
class SteppedProcess {
public:
  SteppedProcess() : pid_(::fork()) {
    if (pid_ == 0) {
      ::execl(MQBRIDGE_RECORDER_STEPS, MQBRIDGE_RECORDER_STEPS, nullptr);
      ::_exit(127);
    }
  }
  ~SteppedProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, __WALL);
  }
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// The signal that it stopped with; 0: it has ended.
  int await_stop() const {
    int status = 0;
    return ::waitpid(pid_, &status, __WALL) == pid_ && WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  }

  /// One instruction, or the signal in the middle of it.
  int step() const {
    return ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) == 0 ? await_stop() : 0;
  }

private:
  pid_t pid_;
};

struct Update {
  std::vector<std::string> told; ///< what walks brought, without repetitions
  int walks = 0;
  int walks_within = 0; ///< of them, while the generation was odd
  int instructions = 0;
};

class SteppedWalks {
public:
  explicit SteppedWalks(const SteppedProcess& process)
      : process_(process), images_(images_of_process(process.pid()).value()),
        memory_(process.pid()), generation_(images_.find_symbol(MQR_ROOT_SYMBOL)->address +
                                            offsetof(mqr_root, generation)) {}

  /// From one SIGSTOP to the next.
  Update watch_update() {
    Update update;
    walk(update);
    for (;;) {
      const int signal = process_.step();
      if (signal != SIGTRAP)
        break;
      ++update.instructions;
      if (memory_.changed())
        walk(update);
    }
    return update;
  }

private:
  void walk(Update& update) {
    memory_.forget();
    auto text = told(walk_recorder({images_, memory_, own_platform()}));
    ++update.walks;
    update.walks_within += is_within() ? 1 : 0;
    if (update.told.empty() || update.told.back() != text)
      update.told.push_back(std::move(text));
  }

  bool is_within() const {
    std::uint32_t value = 0;
    ProcessMemory memory(process_.pid());
    const auto read = memory.read(generation_, std::as_writable_bytes(std::span(&value, 1)));
    EXPECT_EQ(read.value_or(0), sizeof value);
    return value % 2 != 0;
  }

  const SteppedProcess& process_;
  ImageSet images_;
  WatchedMemory memory_;
  TargetAddress generation_;
};

TEST(Stopped, AtAnyInstructionOfAnUpdateItIsBeforeOrAfter) {
  constexpr int updates = 19;
  const SteppedProcess process;
  ASSERT_EQ(process.await_stop(), SIGSTOP);
  SteppedWalks walks(process);
  for (int i = 0; i < updates; ++i) {
    const auto update = walks.watch_update();
    // One change, seen at once and whole, although several stores made it.
    ASSERT_THAT(update.told, SizeIs(2)) << "update " << i;
    EXPECT_GE(update.walks, 3) << "update " << i;
    EXPECT_GE(update.walks_within, 1) << "update " << i;
    EXPECT_GE(update.instructions, 50) << "update " << i;
  }
  ASSERT_EQ(::ptrace(PTRACE_CONT, process.pid(), nullptr, nullptr), 0);
  EXPECT_EQ(process.await_stop(), 0);
}

void expect_sound(const WalkResult& result) {
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_GE(result.communicators.size(), 1U);
  ASSERT_LE(result.communicators.size(), 2U);
  if (result.communicators.size() == 2) {
    EXPECT_THAT(result.communicators[1].name, testing::AnyOf("comes", "goes"));
  }
  const auto& queue = result.communicators[0].queue(OpClass::receive);
  ASSERT_EQ(queue.state, QueueState::available) << queue.error.value_or("");
  std::vector<std::int64_t> last(4, -1);
  for (const auto& operation : queue.operations) {
    ASSERT_TRUE(operation.peer.local_rank && operation.tag.value);
    const auto tag = *operation.tag.value;
    auto& before = last.at(static_cast<std::size_t>(*operation.peer.local_rank));
    EXPECT_GT(tag, before);
    before = tag;
    EXPECT_EQ(operation.length.value, 3 * tag);
    if (operation.status == OpStatus::matched) {
      ASSERT_TRUE(operation.actual);
      EXPECT_EQ(operation.actual->length, 2 * tag);
      EXPECT_EQ(operation.actual->tag, tag);
    }
  }
}

TEST(Stopped, InTheMiddleOfManyThreads) {
  constexpr int stops = 60;
  test::ChildProcess process({{MQBRIDGE_RECORDER_CHURN}});
  ASSERT_TRUE(test::eventually(20s, [&] { return process.out() == "ready\n"; }));
  auto images = images_of_process(process.pid()).value();
  std::size_t operations = 0;
  for (int i = 0; i < stops; ++i) {
    ::usleep(1000);
    process.signal(SIGSTOP);
    ASSERT_TRUE(test::eventually(
        5s, [&] { return test::is_stopped(process.pid()); }, 1ms));
    ProcessMemory memory(process.pid());
    const auto result = walk_recorder({images, memory, own_platform()});
    expect_sound(result);
    if (HasFatalFailure())
      return;
    operations += result.communicators[0].queue(OpClass::receive).operations.size();
    process.signal(SIGCONT);
  }
  EXPECT_GE(operations, static_cast<std::size_t>(stops));
}

} // namespace
} // namespace mqbridge
