// Processes of this host, through servers that are started for them.

#include "host/dump/pool/consistent_dump.h"
#include "host/dump/pool/rank_pool.h"
#include "tests/dump/real/rank_under_test.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

class NodeTargets : public testing::Test {
protected:
  NodeTargets() {
    for (int i = 0; i < 5; ++i) {
      processes.push_back(std::make_unique<e2e::SingleProcess>(
          "recorder_list", std::vector<std::string>{"10", "0", "1"}));
      targets.push_back(target(fmt::format("local:{}", processes.back()->pid())));
    }
  }
  ~NodeTargets() override {
    for (const auto& process : processes)
      EXPECT_EQ(process->finish(), "") << "it runs on, and comes to its normal end";
  }

  static TargetSpec target(const std::string& text) { return TargetSpec::parse(text).value(); }

  std::vector<RankOutcome> dump() { return RankPool(targets, tools.tools(), {}, {}).run(); }
  std::vector<RankOutcome> dump_at_once() {
    return dump_consistently(targets, tools.tools(), {}, {});
  }

  static void expect_complete(const RankOutcome& outcome) {
    EXPECT_EQ(outcome.dump.status, RankStatus::ok) << errors_of(outcome.dump);
    EXPECT_EQ(receives_of(outcome.dump), 10U);
  }
  static const RankError& only_error(const RankOutcome& outcome) {
    EXPECT_EQ(outcome.dump.errors.size(), 1U) << errors_of(outcome.dump);
    return outcome.dump.errors.at(0);
  }

  std::vector<std::unique_ptr<e2e::SingleProcess>> processes;
  std::vector<TargetSpec> targets;
  DumpTools tools;
};

TEST_F(NodeTargets, AreTakenInTurnByFewServers) {
  tools.options.jobs = 1;
  for (const auto& outcome : dump())
    expect_complete(outcome);
}

TEST_F(NodeTargets, OneThatIsGoneCostsTheOthersNothing) {
  targets.insert(targets.begin() + 1, target("local:999999999"));
  targets.insert(targets.begin() + 4,
                 target(fmt::format("local:{}", ::getpid()))); // no MPI, and us
  tools.options.jobs = 1; // so that the server that has ended over the refusal is the next one's
  const auto outcomes = dump();
  for (const std::size_t i : {0U, 2U, 3U, 5U, 6U})
    expect_complete(outcomes[i]);
  EXPECT_EQ(only_error(outcomes[1]).code, "attach.no_such_process");
  EXPECT_EQ(only_error(outcomes[4]).code, "attach.self");
}

TEST_F(NodeTargets, OfANodeThatIsNotReachedAllFailAtOnce) {
  for (auto& each : targets)
    std::get<NodeProcess>(each.where).node = {Launcher::ssh, "nohost.invalid", ""};
  targets.push_back(target(fmt::format("local:{}", processes[0]->pid())));
  const auto outcomes = dump();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(only_error(outcomes[i]).code, "node.login");
    EXPECT_THAT(only_error(outcomes[i]).message,
                testing::StartsWith("ssh does not find the host: Could not resolve "
                                    "hostname nohost.invalid: "));
    EXPECT_THAT(only_error(outcomes[i]).message, testing::Not(testing::HasSubstr("qSupported")));
    EXPECT_EQ(outcomes[i].held, std::nullopt);
    EXPECT_EQ(outcomes[i].dump.host, "nohost.invalid");
  }
  expect_complete(outcomes[5]);
}

TEST_F(NodeTargets, WithoutAServerSaysHowToGetOne) {
  tools.launchers.emplace(LaunchOptions{.gdbserver = "/nowhere/gdbserver"});
  const auto outcomes = dump();
  const auto& error = only_error(outcomes.front());
  EXPECT_EQ(error.code, "connect.failed");
  EXPECT_THAT(error.message, testing::HasSubstr("/nowhere/gdbserver"));
}

/// The last one was stopped before the first one was let go.
TEST_F(NodeTargets, AreAllStoppedBeforeOneIsRead) {
  tools.options.max_stop = 10s;
  const auto outcomes = dump_at_once();
  auto last_stop = outcomes.front().held->from;
  auto first_release = outcomes.front().held->to;
  for (const auto& outcome : outcomes) {
    expect_complete(outcome);
    last_stop = std::max(last_stop, outcome.held->from);
    first_release = std::min(first_release, outcome.held->to);
  }
  EXPECT_LT(last_stop, first_release);
}

/// One whose server is deaf to the attach keeps the others only until half of --max-stop, and they
/// say that it did not stand still.
TEST_F(NodeTargets, AreNotHeldForOneThatIsNotStopped) {
  TempDirectory directory;
  const auto deaf = directory.path() / "gdbserver";
  std::ofstream(deaf) << fmt::format(R"(#!/usr/bin/python3
import os, subprocess, sys, time
server = subprocess.Popen(["gdbserver"] + sys.argv[1:], stdin=subprocess.PIPE)
while bytes := os.read(0, 65536):
    if b"vAttach;{:x}#" in bytes:
        time.sleep(3)
    server.stdin.write(bytes)
    server.stdin.flush()
server.stdin.close()
server.wait()
)",
                                     processes[4]->pid());
  std::filesystem::permissions(deaf, std::filesystem::perms::owner_all);
  tools.launchers.emplace(LaunchOptions{.gdbserver = deaf.string()});
  tools.options.max_stop = 2s;
  const auto outcomes = dump_at_once();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(outcomes[i].held) << errors_of(outcomes[i].dump);
    const auto held = outcomes[i].held->to - outcomes[i].held->from;
    EXPECT_GT(held, 900ms) << "it waited for the others";
    EXPECT_LT(held, 2500ms);
    EXPECT_EQ(receives_of(outcomes[i].dump), 10U);
    EXPECT_EQ(only_error(outcomes[i]).code, "stop.inconsistent");
  }
  EXPECT_NE(outcomes[4].dump.status, RankStatus::ok);
}

TEST_F(NodeTargets, LeaveNoServerBehind) {
  const auto before = children_of(::getpid()).size();
  dump();
  dump_at_once();
  EXPECT_TRUE(eventually(5s, [&] { return children_of(::getpid()).size() == before; }));
}

} // namespace
} // namespace mqbridge::test
