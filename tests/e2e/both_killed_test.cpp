// mqbridge and its guardian killed or stopped at once, while a target is held: what then becomes of
// the target is for its stub to decide. Were those to run on whose stubs keep them, kill_test.cpp
// would prove nothing; that the others do is what a user can rely on who wants to be safe even
// then.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/prey.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::descendant_named;
using test::eventually;

constexpr int attempts = 50; // a tenth of a second each

/// Whether every process is held that can be seen to be; and none of those that cannot runs.
bool all_held(Prey& prey) {
  const auto traced = prey.traced();
  return std::all_of(traced.begin(), traced.end(),
                     [](pid_t pid) { return test::is_stopped(pid); }) &&
         !prey.run(50ms);
}

/// `harm` comes to both while mqbridge stands still in the middle of a walk, its target held.
/// Empty, or why that did not come to pass.
std::string
while_held(Prey& prey,
           const std::function<std::string(TracedRun& mqbridge, pid_t guardian)>& harm) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto arguments = prey.arguments();
    arguments.insert(arguments.begin(), "dump");
    TracedRun run(arguments);
    if (!run.await_phase("images", 1, 20s))
      return "it never came to read: " + run.process().err();
    // For less than the guardian takes for a suspension.
    run.process().signal(SIGSTOP);
    const auto guardian = descendant_named(run.process().pid(), "mqbridge-guardian");
    if (all_held(prey) && guardian)
      return harm(run, *guardian);
    run.process().signal(SIGCONT);
    run.process().wait(20s);
    prey.renew();
  }
  return "it was never met while it held its target";
}

std::string kill_both_while_held(Prey& prey) {
  return while_held(prey, [](TracedRun& mqbridge, pid_t guardian) {
    kill(guardian, SIGKILL);
    mqbridge.process().signal(SIGKILL);
    return mqbridge.process().wait(5s) ? "" : "mqbridge survived";
  });
}

class BothKilled : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(trap(GetParam()).lacking()); }
};

using BothKilledFreezes = BothKilled;

TEST_P(BothKilledFreezes, OrEndsTheTarget) {
  test::faults_tried(1);
  const auto prey = trap(GetParam()).set();
  ASSERT_EQ(kill_both_while_held(*prey), "");
  EXPECT_FALSE(prey->run(1500ms));
  for (const pid_t pid : prey->traced()) {
    const char state = test::process_state(pid);
    if (GetParam() == "spawned_once")
      EXPECT_TRUE(state == '\0' || state == 'Z') << state; // the server has killed it
    else
      EXPECT_TRUE(test::is_stopped(pid)) << state;
  }
}

INSTANTIATE_TEST_SUITE_P(Traps, BothKilledFreezes,
                         testing::Values("attach", "spawned", "spawned_once"),
                         [](const auto& name) { return name.param; });

using BothKilledHarmsNothing = BothKilled;

TEST_P(BothKilledHarmsNothing, BecauseTheStubLetsGo) {
  test::faults_tried(1);
  const auto prey = trap(GetParam()).set();
  ASSERT_EQ(kill_both_while_held(*prey), "");
  EXPECT_TRUE(prey->run(20s));
  EXPECT_EQ(prey->finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Traps, BothKilledHarmsNothing,
                         testing::Values("attach_once", "stdio", "ssh", "qemu_user"),
                         [](const auto& name) { return name.param; });

/// As by SIGSTOP to both, a frozen cgroup or a suspended machine: not even a stub that lets go of
/// its own accord learns of it.
TEST(BothStopped, HoldTheTargetUntilTheyGoOn) {
  test::faults_tried(1);
  const auto prey = trap("stdio").set();
  ASSERT_EQ(while_held(*prey,
                       [&prey](TracedRun& mqbridge, pid_t guardian) {
                         kill(guardian, SIGSTOP);
                         const bool ran = prey->run(1500ms);
                         kill(guardian, SIGCONT);
                         mqbridge.process().signal(SIGCONT);
                         mqbridge.process().wait(20s);
                         return ran ? "the target ran" : "";
                       }),
            "");
  EXPECT_TRUE(prey->run(20s));
  EXPECT_EQ(prey->finish(), "");
}

/// One after the other: only the one that is held is lost.
TEST(BothKilledOfSeveral, TheOneThatIsHeldIsFrozen) {
  const auto prey = trap("multi").set();
  std::vector<pid_t> frozen;
  for (int attempt = 0; attempt < attempts && frozen.empty(); ++attempt) {
    auto arguments = prey->arguments();
    arguments.insert(arguments.begin(), "dump");
    TracedRun run(arguments);
    ASSERT_TRUE(run.await_phase("walk", 2, 20s));
    run.process().signal(SIGSTOP);
    const auto guardian = descendant_named(run.process().pid(), "mqbridge-guardian");
    if (!guardian)
      continue;
    kill(*guardian, SIGKILL);
    run.process().signal(SIGKILL);
    ASSERT_TRUE(run.process().wait(5s));
    for (const pid_t pid : prey->traced()) {
      if (test::is_stopped(pid))
        frozen.push_back(pid);
    }
    prey->renew();
  }
  EXPECT_EQ(frozen.size(), 1U);
}

} // namespace
} // namespace mqbridge::e2e
