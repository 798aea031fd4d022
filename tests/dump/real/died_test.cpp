// A process that is killed while it is held. The kernel's word for it is the zombie that is left;
// nothing that a stub says tells it from one whose memory is not mapped.

#include "tests/dump/real/rank_under_test.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t receives = 3000;

/// Its memory is gone when it is a zombie, not when the signal was sent.
void kill_now(pid_t pid) {
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(eventually(5s, [&] { return process_state(pid) == 'Z'; }));
}

/// Nothing but its end is said of it, and nothing is said to be complete. Since release 16
/// gdbserver leaves before its first answer where the process has gone.
void expect_died(const RankDump& dump, std::string_view phase) {
  ASSERT_EQ(dump.errors.size(), 1U) << errors_of(dump);
  const std::string& code = dump.errors.front().code;
  EXPECT_TRUE(code == "target.died" || (phase == "connect" && code == "stub.closed"))
      << errors_of(dump);
  EXPECT_EQ(dump.errors.front().level, RankError::Level::error);
  EXPECT_FALSE(dump.errors.front().hint.empty());
  EXPECT_EQ(dump.status, dump.communicators.empty() ? RankStatus::failed : RankStatus::partial);
  for (const auto& communicator : dump.communicators) {
    for (const OpClass op_class : op_classes) {
      const Queue& queue = communicator.queue(op_class);
      EXPECT_EQ(queue.state, QueueState::error);
      EXPECT_EQ(queue.reason, QueueReason::target_died);
      EXPECT_EQ(queue.total, std::nullopt);
    }
  }
}

struct Moment {
  const char* phase;            ///< that it is killed in, as progress() names it
  std::uint64_t operations = 0; ///< not before so many were found
  ServerMode mode = ServerMode::attach_once;
  std::size_t found = 0; ///< at least
};

void PrintTo(const Moment& moment, std::ostream* out) {
  *out << moment.phase << " " << moment.operations;
}

class KilledTarget : public testing::TestWithParam<Moment> {};

TEST_P(KilledTarget, IsSaidToHaveDiedAndKeepsWhatWasFound) {
  const Moment& moment = GetParam();
  RankUnderTest rank("many_receives", {std::to_string(receives)}, moment.mode);
  DumpTools tools;
  bool alive = true;
  RankObserver observer;
  observer.progress = [&](std::string_view phase, std::uint64_t operations) {
    if (alive && phase == moment.phase && operations >= moment.operations)
      kill_now(rank.pid());
    alive = process_state(rank.pid()) != 'Z';
  };
  const auto outcome = dump(rank, tools, observer);
  ASSERT_FALSE(alive) << "it did not come to this phase";
  expect_died(outcome.dump, moment.phase);
  EXPECT_GE(receives_of(outcome.dump), moment.found);
  EXPECT_LE(receives_of(outcome.dump), receives);
}

INSTANTIATE_TEST_SUITE_P(
    AtEveryPhase, KilledTarget,
    testing::Values(Moment{"connect"}, Moment{"attach"}, Moment{"images"},
                    Moment{.phase = "images", .mode = ServerMode::multi}, Moment{"types"},
                    Moment{"walk"}, Moment{.phase = "walk", .operations = 1, .found = 1},
                    Moment{.phase = "detach", .found = receives},
                    Moment{.phase = "detach", .mode = ServerMode::multi, .found = receives}),
    [](const auto& moment) {
      return fmt::format("{}{}{}", moment.param.phase, moment.param.operations > 0 ? "Found" : "",
                         moment.param.mode == ServerMode::multi ? "Multi" : "");
    });

} // namespace
} // namespace mqbridge::test
