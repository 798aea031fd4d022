#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>
#include <thread>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::GdbServer;
using test::ServerMode;

constexpr int kills = 5;
constexpr int attempts = 40; // some kills come before anything is held
constexpr auto until_it_runs = 2s;

/// Reproducible, but another sequence for each mode.
std::mt19937 random_numbers(ServerMode mode) {
  return std::mt19937(20'261 + static_cast<unsigned>(mode));
}

std::chrono::microseconds random_pause(std::mt19937& random, std::chrono::microseconds most) {
  return std::chrono::microseconds(
      std::uniform_int_distribution<std::chrono::microseconds::rep>(0, most.count())(random));
}

test::ChildProcess victim(const std::string& guardian, const GdbServer& server) {
  return test::ChildProcess({{test::kill_victim_program(), guardian, server.endpoint()}});
}

/// Looks often: the kill that follows is to meet a short phase.
bool says(const test::ChildProcess& client, std::string_view text) {
  return test::eventually(
      5s, [&] { return client.err().find(text) != std::string::npos; }, 1ms);
}

/// And waits for its end, so that the guardian, which must live on, is not its descendant any more.
void kill_now(test::ChildProcess& client) {
  client.signal(SIGKILL);
  ASSERT_TRUE(client.wait(5s));
}

class KilledWithGuardian : public testing::TestWithParam<ServerMode> {};

/// The phase that a kill hits is random: while it negotiates, attaches or reads.
TEST_P(KilledWithGuardian, TheTargetRunsOn) {
  std::mt19937 random = random_numbers(GetParam());
  int done = 0;
  for (int attempt = 0; done < kills && attempt < attempts; ++attempt) {
    const GdbServer server(GetParam());
    {
      auto client = victim(test::guardian_program(), server);
      ASSERT_TRUE(says(client, done % 2 == 0 ? "attached" : "starting")) << client.err();
      std::this_thread::sleep_for(random_pause(random, done % 2 == 0 ? 20ms : 8ms));
      kill_now(client);
    }
    const bool runs = test::runs_within(server.inferior(), until_it_runs);
    // Killed before it had connected: the server is left as it was, holding its process.
    if (!runs && GetParam() != ServerMode::stdio && server.clients() == 0)
      continue;
    EXPECT_TRUE(runs) << "kill " << done << ": state '" << test::process_state(server.inferior())
                      << "'\n"
                      << server.err();
    ++done;
  }
  test::faults_tried(static_cast<std::size_t>(done));
  EXPECT_EQ(done, kills) << "of so many kills in " << attempts << " only these met a target held";
}

INSTANTIATE_TEST_SUITE_P(EveryMode, KilledWithGuardian,
                         testing::Values(ServerMode::attach, ServerMode::attach_once,
                                         ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once, ServerMode::stdio),
                         [](const auto& mode) { return to_string(mode.param); });

/// The same without a guardian: what gdbserver does by itself. Were these targets to run on, the
/// tests above would prove nothing.
class KilledWithoutGuardian : public testing::TestWithParam<ServerMode> {};

TEST_P(KilledWithoutGuardian, TheTargetIsLost) {
  const GdbServer server(GetParam());
  auto client = victim("-", server);
  ASSERT_TRUE(says(client, "attached")) << client.err();
  std::this_thread::sleep_for(10ms);
  kill_now(client);
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
                         [](const auto& mode) { return to_string(mode.param); });

} // namespace
} // namespace mqbridge::rsp
