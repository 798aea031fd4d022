// A client that is suspended while it holds a target: its guardian lets the target run, and the
// client, once it goes on, takes nothing for an answer to itself that was one to the guardian.

#include "rsp/guardian/program/client_state.h"
#include "rsp/guardian/program/keeper.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <thread>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using guardian::ClientState;
using guardian::Keeper;
using guardian::parse_client_state;
using test::GdbServer;
using test::ServerMode;

struct StatusCase {
  const char* name;
  std::string_view status;
  ClientState state;
};

TEST(ClientState, IsReadFromProc) {
  for (const auto& [name, status, state] : {
           StatusCase{"runs", "Name:\tmqbridge\nState:\tR (running)\n", ClientState::active},
           StatusCase{"sleeps", "State:\tS (sleeping)\nCoreDumping:\t0\n", ClientState::active},
           StatusCase{"stopped", "Name:\tx\nState:\tT (stopped)\n", ClientState::suspended},
           StatusCase{"under a debugger", "State:\tt (tracing stop)\n", ClientState::active},
           StatusCase{"named like a field", "Name:\tState:\nState:\tS\n", ClientState::active},
           StatusCase{"crashed", "State:\tS (sleeping)\nCoreDumping:\t1\n", ClientState::dumping},
           StatusCase{"stopped and crashed", "State:\tT\nCoreDumping:\t1", ClientState::dumping},
           StatusCase{"another field", "StateX:\tT\nXState:\tT\n", ClientState::active},
           StatusCase{"cut off", "State:", ClientState::active},
           StatusCase{"nothing", "", ClientState::active},
       })
    EXPECT_EQ(parse_client_state(status), state) << name;
}

TEST(ClientState, OfAProcess) {
  const test::ChildProcess process({{"sleep", "60"}});
  EXPECT_EQ(guardian::client_state(process.pid()), ClientState::active);
  process.signal(SIGSTOP);
  EXPECT_TRUE(test::eventually(
      5s, [&] { return guardian::client_state(process.pid()) == ClientState::suspended; }));
  EXPECT_EQ(guardian::client_state(999'999'999), ClientState::active);
}

bool has_said(const test::ChildProcess& client, std::string_view text) {
  return test::eventually(10s, [&] { return client.err().find(text) != std::string::npos; });
}

class SuspendedClient : public testing::TestWithParam<ServerMode> {};

TEST_P(SuspendedClient, TheTargetRunsOnAndTheClientIsToldSo) {
  test::faults_tried(1);
  const GdbServer server(GetParam());
  test::ChildProcess client(
      {{test::kill_victim_program(), test::guardian_program(), server.endpoint()}});
  ASSERT_TRUE(has_said(client, "attached")) << client.err();
  client.signal(SIGSTOP);
  EXPECT_TRUE(test::runs_within(server.inferior(), Keeper::suspension_grace + 10s));
  EXPECT_EQ(test::process_state(client.pid()), 'T');
  client.signal(SIGCONT);
  const auto ending = client.wait(10s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 1);
  EXPECT_THAT(client.err(), testing::HasSubstr("mqbridge was suspended")) << client.err();
  EXPECT_TRUE(test::runs_within(server.inferior(), 2s));
}

INSTANTIATE_TEST_SUITE_P(EveryMode, SuspendedClient,
                         testing::Values(ServerMode::attach, ServerMode::attach_once,
                                         ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once, ServerMode::stdio),
                         [](const auto& mode) { return to_string(mode.param); });

TEST(SuspendedClientTest, AShortSuspensionCostsNothing) {
  const GdbServer server(ServerMode::attach);
  test::ChildProcess client(
      {{test::kill_victim_program(), test::guardian_program(), server.endpoint()}});
  ASSERT_TRUE(has_said(client, "attached")) << client.err();
  for (int round = 0; round < 5; ++round) {
    client.signal(SIGSTOP);
    std::this_thread::sleep_for(Keeper::suspension_grace / 4);
    client.signal(SIGCONT);
    std::this_thread::sleep_for(Keeper::suspension_grace / 4);
  }
  EXPECT_FALSE(client.wait(0ms)) << client.err();
  EXPECT_NE(test::tracer_of(server.inferior()), 0) << "it still reads";
}

} // namespace
} // namespace mqbridge::rsp
