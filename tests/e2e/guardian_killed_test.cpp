// The guardian itself is killed while mqbridge dumps: another takes its place, and then it may be
// mqbridge's turn.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/prey.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::descendant_named;
using test::eventually;
using testing::HasSubstr;

/// How many sockets the guardian of a stopped mqbridge has, once all that was sent to it has come.
int settled_sockets(pid_t guardian) {
  int before = -1;
  int now = test::sockets_of(guardian);
  while (now != before) {
    std::this_thread::sleep_for(20ms);
    before = std::exchange(now, test::sockets_of(guardian));
  }
  return now;
}

/// Whether another guardian than `before` has been told of as many connections, which lie beyond
/// its channel: one that is not told of all yet does not know whom to release.
bool another_watches(pid_t mqbridge, pid_t before, int sockets_before) {
  return eventually(
      10s,
      [=] {
        const auto next = descendant_named(mqbridge, "mqbridge-guardian");
        return next && *next != before && test::sockets_of(*next) >= sockets_before;
      },
      1ms);
}

class GuardianKilled : public testing::TestWithParam<std::string> {};

TEST_P(GuardianKilled, TheNextOneReleasesAllAfterMqbridgeIsKilled) {
  constexpr int rounds = 10;
  const auto prey = trap(GetParam()).set();
  int met = 0;
  for (int attempt = 0; met < rounds && attempt < 4 * rounds; ++attempt) {
    auto arguments = prey->arguments();
    arguments.insert(arguments.begin(), "dump");
    TracedRun run(arguments);
    const pid_t mqbridge = run.process().pid();
    const char* const phases[] = {"connect", "attach", "images", "walk"};
    run.await_phase(phases[attempt % 4], 1, 20s);
    const auto guardian = descendant_named(mqbridge, "mqbridge-guardian");
    int sockets = 0;
    if (guardian) {
      // Stopped, it tells the guardian of no connection between the count and the kill.
      run.process().signal(SIGSTOP);
      sockets = std::max(2, settled_sockets(*guardian));
      kill(*guardian, SIGKILL);
      run.process().signal(SIGCONT);
    }
    const bool replaced = guardian && another_watches(mqbridge, *guardian, sockets);
    run.process().signal(SIGKILL);
    const auto ending = run.process().wait(5s);
    ASSERT_TRUE(ending);
    if (prey->met(run)) {
      ASSERT_TRUE(prey->run(20s)) << "attempt " << attempt;
    }
    ASSERT_TRUE(eventually(15s, [] { return test::orphans("mqbridge-guardian").empty(); }));
    met += replaced && ending->signal == SIGKILL ? 1 : 0;
    prey->renew();
  }
  test::faults_tried(static_cast<std::size_t>(met));
  EXPECT_EQ(met, rounds) << "too few guardians were killed in the middle of a dump";
  EXPECT_EQ(prey->finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Traps, GuardianKilled, testing::Values("attach", "multi", "servers"),
                         [](const auto& name) { return name.param; });

TEST(GuardianKilledTest, TheDumpIsCompleteAllTheSame) {
  const auto prey = trap("multi").set();
  auto arguments = prey->arguments();
  arguments.insert(arguments.begin(), {"dump", "--format", "json"});
  TracedRun run(arguments);
  for (int rank = 1; rank <= 3; ++rank) {
    ASSERT_TRUE(run.await_phase("walk", rank, 20s)) << run.process().err();
    if (const auto guardian = descendant_named(run.process().pid(), "mqbridge-guardian"))
      kill(*guardian, SIGKILL);
  }
  const auto ending = run.process().wait(20s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 0) << run.process().err();
  EXPECT_THAT(run.process().out(), testing::Not(HasSubstr("guardian.lost")));
  EXPECT_TRUE(prey->run(20s));
}

} // namespace
} // namespace mqbridge::e2e
