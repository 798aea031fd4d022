#include "tests/support/child_process.h"
#include "tests/support/gdbserver_process.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::GdbserverProcess;
using test::ServerMode;

constexpr int kills = 5;
constexpr auto until_it_runs = 2s;

/// Reproducible, but another sequence for each mode.
std::mt19937 random_numbers(ServerMode mode) {
  return std::mt19937(20'261 + static_cast<unsigned>(mode));
}

std::chrono::microseconds random_pause(std::mt19937& random, std::chrono::microseconds most) {
  return std::chrono::microseconds(
      std::uniform_int_distribution<std::chrono::microseconds::rep>(0, most.count())(random));
}

test::ChildProcess victim(const std::string& guardian, const GdbserverProcess& server) {
  return test::ChildProcess({test::kill_victim_program(), guardian, server.endpoint().text});
}

class KilledWithGuardian : public testing::TestWithParam<ServerMode> {};

/// The phase that a kill hits is random: while it negotiates, attaches or reads.
TEST_P(KilledWithGuardian, TheTargetRunsOn) {
  std::mt19937 random = random_numbers(GetParam());
  for (int done = 0; done < kills;) {
    const GdbserverProcess server(GetParam());
    {
      auto client = victim(test::guardian_program(), server);
      ASSERT_TRUE(client.says(done % 2 == 0 ? "attached" : "starting")) << client.errors();
      std::this_thread::sleep_for(random_pause(random, done % 2 == 0 ? 20ms : 8ms));
      client.kill_now();
    }
    const bool runs = test::runs_within(server.inferior(), until_it_runs);
    // Killed before it had connected: the server is left as it was, holding its process.
    if (!runs && GetParam() != ServerMode::stdio && !server.was_reached())
      continue;
    EXPECT_TRUE(runs) << "kill " << done << ": state '" << test::process_state(server.inferior())
                      << "'\n"
                      << server.errors();
    ++done;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMode, KilledWithGuardian,
                         testing::Values(ServerMode::attach, ServerMode::attach_once,
                                         ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once, ServerMode::stdio),
                         [](const auto& mode) { return std::string(test::name_of(mode.param)); });

/// The same without a guardian: what gdbserver does by itself. Were these targets to run on, the
/// tests above would prove nothing.
class KilledWithoutGuardian : public testing::TestWithParam<ServerMode> {};

TEST_P(KilledWithoutGuardian, TheTargetIsLost) {
  const GdbserverProcess server(GetParam());
  auto client = victim("-", server);
  ASSERT_TRUE(client.says("attached")) << client.errors();
  std::this_thread::sleep_for(10ms);
  client.kill_now();
  EXPECT_FALSE(test::runs_within(server.inferior(), 500ms));
  const char state = test::process_state(server.inferior());
  if (GetParam() == ServerMode::spawned_once)
    EXPECT_TRUE(state == '\0' || state == 'Z') << state; // the server has killed it
  else
    EXPECT_TRUE(test::is_stopped(server.inferior())) << state;
}

INSTANTIATE_TEST_SUITE_P(FrozenOrKilled, KilledWithoutGuardian,
                         testing::Values(ServerMode::attach, ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once),
                         [](const auto& mode) { return std::string(test::name_of(mode.param)); });

} // namespace
} // namespace mqbridge::rsp
