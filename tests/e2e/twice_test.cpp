// Two looks at real processes, and the verdict behind them.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using testing::HasSubstr;

std::vector<std::string> targets(const MpiJob& job) {
  std::vector<std::string> all;
  for (int rank = 0; rank < job.ranks(); ++rank)
    all.push_back(local_target(job.pid(rank)));
  return all;
}

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Waits until mqbridge says that it rests between its looks.
bool rests(const test::ChildProcess& mqbridge) {
  for (int i = 0; i < 600; ++i) {
    if (mqbridge.err().find("looking again in") != std::string::npos)
      return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

test::ChildSpec dump_with(const std::vector<std::string>& words) {
  return mqbridge_command(with({"dump", "--progress", "always", "--format", "json"}, words));
}

/// The document has both looks, and the verdict is the same when it is made again of it.
TEST(Twice, BothLooksStandInTheDocument) {
  MpiJob job({.program = "ring_deadlock", .arguments = {}, .ranks = 3});
  const auto dump = dump_json(with(targets(job), {"--analyze", "--twice", "0.5"}));
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& earlier = dump.document["earlier"];
  ASSERT_EQ(earlier.size(), 1U);
  ASSERT_EQ(earlier[0]["ranks"].size(), 3U);
  EXPECT_LT(earlier[0]["ranks"][0]["stopped_at"], dump.document["ranks"][0]["stopped_at"]);
  EXPECT_EQ(dump.document["analysis"]["looks"], 2);
  EXPECT_EQ(dump.document["analysis"]["verdict"], "deadlock");
}

TEST(Twice, TheExitStatusSaysThatTheJobIsDeadlocked) {
  MpiJob job({.program = "ring_deadlock", .arguments = {}, .ranks = 3});
  const auto failed =
      run_mqbridge(with({"dump"}, with(targets(job), {"--fail-on", "deadlock", "--twice", "0.1"})));
  EXPECT_EQ(failed.status(), 4) << testing::PrintToString(failed);
  EXPECT_THAT(failed.out, HasSubstr("\nVERDICT  DEADLOCK"));
  EXPECT_THAT(failed.out, HasSubstr("\nexit 4: --fail-on is met\n"));
  const auto plain = run_mqbridge(with({"dump", "--no-analyze"}, targets(job)));
  EXPECT_EQ(plain.status(), 0);
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("VERDICT")));
}

/// Nothing is held then, and what was seen is not lost.
TEST(Twice, CtrlCBetweenTheLooksEndsItAtOnce) {
  MpiJob job({.arguments = {"mix"}});
  test::ChildProcess mqbridge(dump_with(with(targets(job), {"--analyze", "--twice", "300"})));
  ASSERT_TRUE(rests(mqbridge)) << mqbridge.err();
  for (int rank = 0; rank < job.ranks(); ++rank)
    EXPECT_FALSE(test::is_stopped(job.pid(rank)));
  const auto begin = std::chrono::steady_clock::now();
  mqbridge.signal(SIGINT);
  const auto ending = mqbridge.wait(30s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  const auto document = json::parse(mqbridge.out());
  EXPECT_EQ(document["ranks"][0]["status"], "ok");
  EXPECT_TRUE(document["earlier"].is_null());
  EXPECT_EQ(job.finish(), "");
}

TEST(Twice, AProcessThatHasEndedMeanwhileKeepsItsFirstLook) {
  const SingleProcess stays("mpi_victim");
  const SingleProcess ends("mpi_victim");
  test::ChildProcess mqbridge(
      dump_with({local_target(stays.pid()), local_target(ends.pid()), "--twice", "2"}));
  ASSERT_TRUE(rests(mqbridge)) << mqbridge.err();
  ASSERT_EQ(::kill(ends.pid(), SIGKILL), 0);
  const auto ending = mqbridge.wait(60s);
  ASSERT_TRUE(ending && ending->code) << mqbridge.err();
  const auto document = json::parse(mqbridge.out());
  for (const json& rank : document["ranks"]) {
    EXPECT_EQ(rank["status"], "ok");
    EXPECT_EQ(find_error(rank, "twice.exited").is_null(), rank["pid"] == stays.pid())
        << rank["pid"];
  }
  ASSERT_EQ(document["earlier"][0]["ranks"].size(), 1U);
  EXPECT_EQ(document["earlier"][0]["ranks"][0]["pid"], stays.pid());
}

/// What ends with its first client is no failure: it was seen.
TEST(Twice, AStubThatServesOnceIsLookedAtOnce) {
  const SingleProcess process("mpi_victim");
  const GdbServer server(ServerMode::attach_once, process.pid());
  const auto dump = dump_json({server.endpoint(), "--twice", "0.1"});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_FALSE(find_error(dump.document["ranks"][0], "twice.failed").is_null());
  EXPECT_TRUE(dump.document["earlier"].is_null());
  const auto command = dump_json(
      {"exec:gdbserver --once --attach - " + std::to_string(process.pid()), "--twice", "300"});
  EXPECT_EQ(command.status(), 0) << testing::PrintToString<Outcome>(command);
  EXPECT_FALSE(find_error(command.document, "twice.once").is_null());
}

} // namespace
} // namespace mqbridge::e2e
