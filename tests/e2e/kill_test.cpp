// Whatever happens to mqbridge, the target runs on: kill -9 at every phase of a dump, against each
// way of starting a gdbserver. And without the guardian it does not, or these tests would prove
// nothing.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/relay.h"
#include "tests/e2e/harness/run_to_signal.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <list>
#include <optional>
#include <random>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::descendant_named;
using test::Ending;
using test::eventually;
using test::GdbServer;
using test::orphans;
using test::process_state;
using test::ServerMode;
using test::spawns;
using test::TempDirectory;
using test::tracer_of;
using Clock = std::chrono::steady_clock;

constexpr int kills = 20;

std::string mode_name(const testing::TestParamInfo<ServerMode>& param) {
  return to_string(param.param);
}

// A process under a gdbserver, and how to see that it runs.
class Prey {
public:
  explicit Prey(ServerMode mode) : mode_(mode) {
    if (!spawns(mode))
      process_.emplace("mpi_victim");
    renew();
  }

  // A fresh gdbserver; in the spawning modes with a fresh process.
  void renew() {
    server_.reset();
    clients_before_ = 0;
    if (process_) {
      server_.emplace(mode_, process_->pid());
      return;
    }
    directory_.emplace();
    server_.emplace(mode_, SingleProcess::command("mpi_victim", directory_->path(), {"signal"}));
    // A --once server would kill it when this client goes: that one is met at its program's entry.
    if (mode_ == ServerMode::spawned)
      run_to_signal(server_->port(), 20s);
    clients_before_ = server_->clients();
  }

  std::vector<std::string> dump_arguments() const { return {"dump", server_->endpoint()}; }
  const GdbServer& server() const { return *server_; }
  bool met_client() const { return server_->clients() > clients_before_; }
  bool runs(std::chrono::milliseconds patience) const {
    return makes_progress(directory(), patience);
  }
  bool is_gone() const {
    const char state = process_state(server_->inferior());
    return state == '\0' || state == 'Z';
  }

private:
  const std::filesystem::path& directory() const {
    return process_ ? process_->directory() : directory_->path();
  }

  ServerMode mode_;
  std::optional<SingleProcess> process_;
  std::optional<TempDirectory> directory_; // of the spawned process
  std::optional<GdbServer> server_;
  int clients_before_ = 0; // of this test, not mqbridge
};

// How long an undisturbed dump takes, to spread the kills over it.
Clock::duration usual_duration(Prey& prey) {
  Clock::duration longest{};
  for (int round = 0; round < 2; ++round) {
    const auto start = Clock::now();
    const Outcome outcome = run_mqbridge(prey.dump_arguments());
    longest = std::max(longest, Clock::now() - start);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_TRUE(prey.runs(20s)) << "after an undisturbed dump\n" << testing::PrintToString(outcome);
    prey.renew();
  }
  return longest;
}

bool guardians_have_ended() {
  return eventually(15s, [] { return orphans("mqbridge-guardian").empty(); });
}

class KillTest : public testing::TestWithParam<ServerMode> {};

// Whether the kill came while mqbridge ran and had come to the server: others do not count.
bool kill_after(Prey& prey, std::chrono::microseconds delay) {
  ChildProcess mqbridge(mqbridge_command(prey.dump_arguments()));
  std::this_thread::sleep_for(delay);
  mqbridge.signal(SIGKILL);
  const std::optional<Ending> ending = mqbridge.wait(5s);
  const bool killed = ending && ending->signal == SIGKILL;
  return killed && eventually(100ms, [&] { return prey.met_client(); });
}

TEST_P(KillTest, TargetRunsOnAfterKillAtAnyPhase) {
  Prey prey(GetParam());
  const auto duration = usual_duration(prey);
  std::mt19937 random(20261120);
  std::uniform_real_distribution<double> within(0, 1);
  int done = 0;
  for (int attempt = 0; done < kills && attempt < 10 * kills; ++attempt) {
    // Each twentieth of the run in turn, so that no phase is left out.
    const auto delay = std::chrono::duration_cast<std::chrono::microseconds>(
        duration * ((attempt % kills + within(random)) / kills));
    SCOPED_TRACE(fmt::format("kill {} after {} us", done, delay.count()));
    const bool counts = kill_after(prey, delay);
    // Killed before it came to the server: what that held before stays held, and is none of its
    // doing.
    if (prey.met_client()) {
      // A spawned process still has MPI_Init before it, on a machine that may be busy.
      ASSERT_TRUE(prey.runs(20s) && prey.runs(2s)) << prey.server().endpoint();
    }
    ASSERT_TRUE(guardians_have_ended());
    ASSERT_TRUE(orphans("mqbridge-worker").empty());
    prey.renew();
    done += counts ? 1 : 0;
  }
  EXPECT_EQ(done, kills) << "too few kills met an open connection";
}

INSTANTIATE_TEST_SUITE_P(Modes, KillTest,
                         testing::Values(ServerMode::attach, ServerMode::attach_once,
                                         ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once),
                         mode_name);

// Kills the guardian and mqbridge while the target is held: a relay keeps the server's words back,
// so mqbridge waits in the middle of reading. Empty, or why that did not come to pass.
std::string kill_both_while_held(Prey& prey) {
  // Of a process at its entry not much more comes, where the environment is small.
  constexpr std::size_t attached_by_then = 2500;
  const Relay relay(prey.server().port(), attached_by_then, RelayFault::silent);
  const std::string process = prey.server().process_suffix();
  ChildProcess mqbridge(mqbridge_command({"dump", relay.endpoint() + process}));
  const pid_t inferior = prey.server().inferior();
  if (!eventually(20s, [&] { return relay.faulty(); }))
    return "the relay never came to its fault: " + mqbridge.out();
  if (tracer_of(inferior) == 0)
    return "the target is not held";
  const std::optional<pid_t> guardian = descendant_named(mqbridge.pid(), "mqbridge-guardian");
  if (!guardian)
    return "there is no guardian";
  kill(*guardian, SIGKILL);
  mqbridge.signal(SIGKILL);
  return mqbridge.wait(5s) ? "" : "mqbridge survived";
}

class NoGuardianTest : public testing::TestWithParam<ServerMode> {};

TEST_P(NoGuardianTest, TargetIsFrozenOrKilled) {
  Prey prey(GetParam());
  ASSERT_EQ(kill_both_while_held(prey), "");
  if (GetParam() == ServerMode::spawned_once) {
    EXPECT_TRUE(eventually(5s, [&] { return prey.is_gone(); }));
  }
  EXPECT_FALSE(prey.runs(1500ms));
}

// Not `attach_once`: there the server itself lets the target run.
INSTANTIATE_TEST_SUITE_P(Modes, NoGuardianTest,
                         testing::Values(ServerMode::attach, ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once),
                         mode_name);

TEST(KillJobTest, JobOfTwoRanksComesToItsEnd) {
  MpiJob job({.arguments = {"mix"}});
  std::mt19937 random(20261120);
  std::uniform_int_distribution<int> delay_ms(20, 400);
  for (int round = 0; round < 5; ++round) {
    std::list<GdbServer> servers;
    std::vector<std::string> arguments = {"dump"};
    for (int rank = 0; rank < job.ranks(); ++rank)
      arguments.push_back(servers.emplace_back(ServerMode::attach_once, job.pid(rank)).endpoint());
    ChildProcess mqbridge(mqbridge_command(arguments));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms(random)));
    kill(mqbridge.pid(), SIGKILL);
    ASSERT_TRUE(mqbridge.wait(5s).has_value());
    EXPECT_TRUE(guardians_have_ended());
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
