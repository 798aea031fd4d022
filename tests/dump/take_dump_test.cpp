#include "host/dump/take_dump.h"
#include "tests/support/closed_port.h"
#include "tests/support/eventually.h"
#include "tests/support/scripted_stub.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

TargetSpec target(const std::string& text) {
  auto parsed = TargetSpec::parse(text);
  EXPECT_TRUE(parsed) << text;
  return std::move(*parsed);
}

DumpOptions options() {
  DumpOptions all;
  all.program_directory = MQBRIDGE_PROGRAM_DIRECTORY;
  all.silence_timeout = 500ms;
  return all;
}

TEST(TakeDump, AReportThatNobodyReadsHoldsNoOtherTarget) {
  test::ScriptedStub slow;
  slow.on("vFile:setfs", test::Answer::packet("").after(300ms)).on("?", test::Answer::nothing());
  const test::ClosedPort closed;
  const std::vector targets{target(closed.endpoint()), TargetSpec{std::nullopt, slow.endpoint()}};
  bool first = true;
  bool let_go = false;
  // The first rank's reader reads no further until the second one's target was let go.
  const auto read_slowly = [&](const RankDump&) {
    if (std::exchange(first, false))
      let_go = test::eventually(30s, [&] { return slow.count("D") > 0; });
  };
  const DumpObserver observer{.rank_done = read_slowly,
                              .progress = [](std::size_t, std::string_view, std::uint64_t) {}};
  const auto dump = take_dump(targets, options(), observer, {});
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->ranks.size(), 2U);
  EXPECT_TRUE(let_go);
  // It came to the attach, and ended with the stub's silence.
  ASSERT_EQ(dump->ranks[1].statistics.phases.size(), 2U);
}

TEST(TakeDump, EveryTargetHasItsOwnErrorAndNoInventedRank) {
  const std::array<test::ClosedPort, 5> closed;
  std::vector<TargetSpec> targets;
  for (const auto& port : closed)
    targets.push_back(target(fmt::format("{}@{}", port.endpoint(), 10 + targets.size())));
  std::vector<std::optional<int>> seen;
  const DumpObserver observer{.rank_done = [&](const RankDump& rank) { seen.push_back(rank.rank); },
                              .progress = {}};
  const auto dump = take_dump(targets, options(), observer, {});
  ASSERT_TRUE(dump);
  EXPECT_EQ(seen, std::vector<std::optional<int>>(5));
  for (const auto& rank : dump->ranks) {
    EXPECT_EQ(rank.status, RankStatus::failed);
    EXPECT_GE(rank.pid, 10) << "told by the target's name";
    ASSERT_EQ(rank.errors.size(), 1U);
    EXPECT_EQ(rank.errors[0].code, "connect.refused");
  }
}

TEST(TakeDump, WhatTheObserverThrowsComesOutWhenAllIsOver) {
  const std::array<test::ClosedPort, 8> closed;
  std::vector<TargetSpec> targets;
  for (const auto& port : closed)
    targets.push_back(target(port.endpoint()));
  int calls = 0;
  const DumpObserver observer{.rank_done =
                                  [&](const RankDump&) {
                                    ++calls;
                                    throw std::bad_alloc();
                                  },
                              .progress = {}};
  EXPECT_THROW((void)take_dump(targets, options(), observer, {}), std::bad_alloc);
  EXPECT_EQ(calls, 1);
}

/// It was stopped, though nothing could be learned about it.
TEST(TakeDump, ATargetThatFailsAfterItsAttachHasBeenHeld) {
  test::ScriptedStub stub;
  stub.on("?", test::Answer::packet("T05thread:p1d3e.1d3e;"));
  const std::vector targets{TargetSpec{std::nullopt, stub.endpoint()}};
  const auto dump = take_dump(targets, options(), {}, {});
  ASSERT_TRUE(dump);
  const RankDump& rank = dump->ranks.front();
  ASSERT_EQ(rank.errors.size(), 1U);
  EXPECT_EQ(rank.errors[0].code, "target.platform") << rank.errors[0].message;
  EXPECT_EQ(rank.pid, 0x1d3e);
  ASSERT_TRUE(rank.stopped_ms);
  EXPECT_GT(*rank.stopped_ms, 0);
  EXPECT_TRUE(rank.stopped_before_us);
  EXPECT_EQ(stub.count("D;1d3e"), 1U);
}

TEST(TakeDump, AnExceptionCostsOneTargetAnErrorNotTheProgram) {
  const std::array<test::ClosedPort, 2> closed;
  const std::vector targets{target(closed[0].endpoint()), target(closed[1].endpoint())};
  const DumpObserver observer{.rank_done = {},
                              .progress = [](std::size_t index, std::string_view, std::uint64_t) {
                                if (index == 0)
                                  throw std::bad_alloc();
                              }};
  const auto dump = take_dump(targets, options(), observer, {});
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->ranks[0].errors.size(), 1U);
  EXPECT_EQ(dump->ranks[0].errors[0].code, "internal");
  EXPECT_EQ(dump->ranks[1].errors.at(0).code, "connect.refused");
}

} // namespace
} // namespace mqbridge
