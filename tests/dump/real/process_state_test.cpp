// What a process was doing before it was stopped for the dump.

#include "tests/dump/real/rank_under_test.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> ten_receives = {"10", "0", "1"};

RankOutcome dump_of(const std::string& endpoint, DumpTools& tools) {
  const auto target = TargetSpec::parse(endpoint);
  EXPECT_TRUE(target) << endpoint;
  std::shared_ptr<rsp::SharedStub> stub;
  return dump_rank(*target, tools.tools(), stub, {}, {});
}

bool warns_of_stop(const RankDump& dump) {
  for (const auto& error : dump.errors)
    if (error.code == "target.stopped")
      return true;
  return false;
}

class OwnState : public testing::TestWithParam<ServerMode> {};

TEST_P(OwnState, OfAStoppedProcessIsShownAndLeft) {
  e2e::SingleProcess process("recorder_list", ten_receives);
  const GdbServer server(GetParam(), process.pid());
  const auto endpoint =
      GetParam() == ServerMode::stdio ? fmt::format("local:{}", process.pid()) : server.endpoint();
  DumpTools tools;
  const auto running = dump_of(endpoint, tools);
  EXPECT_TRUE(running.dump.process_state == "S" || running.dump.process_state == "R")
      << running.dump.process_state.value_or("none");
  EXPECT_FALSE(warns_of_stop(running.dump));

  ASSERT_EQ(::kill(process.pid(), SIGSTOP), 0);
  ASSERT_TRUE(eventually(5s, [&] { return process_state(process.pid()) == 'T'; }));
  const auto stopped = dump_of(endpoint, tools);
  EXPECT_EQ(stopped.dump.status, RankStatus::ok) << errors_of(stopped.dump);
  EXPECT_EQ(receives_of(stopped.dump), 10U);
  EXPECT_EQ(stopped.dump.process_state, "T");
  EXPECT_TRUE(warns_of_stop(stopped.dump)) << errors_of(stopped.dump);
  EXPECT_TRUE(eventually(5s, [&] { return process_state(process.pid()) == 'T'; }))
      << "it is left as it was";
  ASSERT_EQ(::kill(process.pid(), SIGCONT), 0);
  EXPECT_EQ(process.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Stubs, OwnState, testing::Values(ServerMode::multi, ServerMode::stdio),
                         testing::PrintToStringParamName());

/// The stub had stopped it: what it was doing before, nobody knows.
TEST(HeldBefore, WhatTheProcessWasDoingIsNotKnown) {
  const RankUnderTest rank("recorder_list", ten_receives, ServerMode::attach_once);
  DumpTools tools;
  const auto outcome = dump(rank, tools);
  EXPECT_TRUE(outcome.dump.stopped_before_us);
  EXPECT_EQ(outcome.dump.process_state, std::nullopt);
}

} // namespace
} // namespace mqbridge::test
