// A process with the recorder, stopped where it happens to be: what the DLL reads is what was there
// before an update, or what is there after it.

#include "dll/recorder/layout.h"
#include "tests/dll/kept_state.h"
#include "tests/dll/recorder_steps.h"
#include "tests/dll/walks.h"
#include "tests/mqs/process_memory.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <sstream>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {
namespace {

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

struct Step {
  std::string_view name, kind;
};
#define STEP(name, kind) {#name, #kind},
constexpr Step steps[] = {RECORDER_STEPS(STEP)};

/// What was to be seen at one stop.
struct Look {
  KeptState state;
  std::string told; ///< by the debug DLL
};

/// One step of the recorder: what was seen at first, at last, and whenever it had changed.
struct SeenStep {
  std::vector<Look> looks;
  int instructions = 0;
};

class SteppedWalks {
public:
  explicit SteppedWalks(const SteppedProcess& process)
      : process_(process), images_(images_of_process(process.pid()).value()),
        memory_(process.pid()), root_(images_.find_symbol(MQR_ROOT_SYMBOL)->address) {}

  /// From one SIGSTOP to the next.
  SeenStep watch_step() {
    SeenStep seen;
    seen.looks.push_back(look());
    while (process_.step() == SIGTRAP) {
      ++seen.instructions;
      if (memory_.changed())
        seen.looks.push_back(look());
    }
    return seen;
  }

private:
  Look look() {
    memory_.forget();
    auto text = told(walk_recorder({images_, memory_, own_platform()}));
    return {read_kept(memory_, root_), std::move(text)};
  }

  const SteppedProcess& process_;
  ImageSet images_;
  WatchedMemory memory_;
  TargetAddress root_;
};

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

bool is_part_of(const std::string& text, const std::string& whole) {
  const auto part = lines_of(text);
  const auto all = lines_of(whole);
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

/// What may be seen of one part, between `before` and `after`.
void expect_part(const std::string& now, const std::string& before, const std::string& after,
                 bool may_lack, const std::string& where) {
  if (now == before || now == after)
    return;
  EXPECT_TRUE(may_lack && (is_part_of(now, before) || is_part_of(now, after)))
      << where << "\nbefore: " << before << "\nnow: " << now << "\nafter: " << after;
}

std::string all_of(const KeptTexts& of) {
  return of.lists + of.channels + of.returned + of.collectives + of.library + of.handles +
         of.errhandlers + of.unqueued;
}

void expect_updating(const Look& look, const SeenStep& seen, const Step& step,
                     const std::string& where) {
  const auto now = texts_of(look.state, true);
  const auto before = texts_of(seen.looks.front().state, true);
  const auto after = texts_of(seen.looks.back().state, true);
  const bool leaves = step.kind == "leaves";
  expect_part(now.lists, before.lists, after.lists, leaves, where);
  expect_part(now.channels, before.channels, after.channels, false, where);
  expect_part(now.returned, before.returned, after.returned, false, where);
  expect_part(now.collectives, before.collectives, after.collectives, false, where);
  expect_part(now.handles, before.handles, after.handles, false, where);
  expect_part(now.errhandlers, before.errhandlers, after.errhandlers, false, where);
  expect_part(now.unqueued, before.unqueued, after.unqueued, false, where);
  expect_part(look.told, seen.looks.front().told, seen.looks.back().told, leaves, where);
}

void expect_settled(const Look& look, const SeenStep& seen, const std::string& where) {
  const auto now = all_of(texts_of(look.state, false));
  expect_part(now, all_of(texts_of(seen.looks.front().state, false)),
              all_of(texts_of(seen.looks.back().state, false)), false, where);
  expect_part(look.told, seen.looks.front().told, seen.looks.back().told, false, where);
}

void expect_threads(const SeenStep& seen, const Step& step, const std::string& where) {
  const auto before = texts_of(seen.looks.front().state, false).threads;
  const auto after = texts_of(seen.looks.back().state, false).threads;
  const bool changes = step.kind == "thread" || step.kind == "join";
  EXPECT_EQ(before != after, changes) << where;
  int in_between = 0;
  for (const auto& look : seen.looks) {
    const auto now = texts_of(look.state, false).threads;
    in_between += now == "changing\n" ? 1 : 0;
    // A thread that is new is in no call at first.
    const bool is_new = step.kind == "join" && look.state.threads.size() == 1 &&
                        look.state.threads[0].function == 0;
    EXPECT_TRUE(now == before || now == after || is_new || now == "changing\n") << where << now;
  }
  EXPECT_EQ(in_between > 0, changes) << where;
}

void expect_step(const SeenStep& seen, const Step& step) {
  int within = 0;
  for (std::size_t i = 0; i < seen.looks.size(); ++i) {
    const auto& look = seen.looks[i];
    const auto where = fmt::format("{}, look {}", step.name, i);
    EXPECT_THAT(look.state.faults, testing::IsEmpty()) << where;
    within += look.state.updating() ? 1 : 0;
    if (look.state.updating())
      expect_updating(look, seen, step, where);
    else
      expect_settled(look, seen, where);
  }
  const std::string name(step.name);
  expect_threads(seen, step, name);
  const bool is_update = step.kind == "update" || step.kind == "leaves" || step.kind == "join";
  EXPECT_EQ(within > 0, is_update) << name;
  EXPECT_GE(seen.looks.size(), is_update ? 4U : 2U) << name << ": it was not seen in between";
  if (step.kind != "thread" && step.kind != "join") {
    EXPECT_NE(all_of(texts_of(seen.looks.front().state, false)),
              all_of(texts_of(seen.looks.back().state, false)))
        << name << " changes nothing";
  }
}

TEST(Stopped, AtAnyInstructionOfAnUpdateItIsBeforeOrAfter) {
  const SteppedProcess process;
  ASSERT_EQ(process.await_stop(), SIGSTOP);
  SteppedWalks walks(process);
  for (const auto& step : steps) {
    const auto seen = walks.watch_step();
    EXPECT_GE(seen.instructions, 10) << step.name;
    expect_step(seen, step);
    // What is to be done before the next one.
    ASSERT_EQ(::ptrace(PTRACE_CONT, process.pid(), nullptr, nullptr), 0);
    const int signal = process.await_stop();
    ASSERT_EQ(signal, &step == std::end(steps) - 1 ? 0 : SIGSTOP) << step.name;
  }
}

} // namespace
} // namespace mqbridge
