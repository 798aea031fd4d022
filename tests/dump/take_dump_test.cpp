#include "host/dump/take_dump.h"
#include "tests/support/scripted_stub.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <thread>
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
  const std::vector targets{target("127.0.0.1:1"), TargetSpec{std::nullopt, slow.endpoint()}};
  bool first = true;
  const DumpObserver observer{.rank_done =
                                  [&](const RankDump&) {
                                    if (std::exchange(first, false))
                                      std::this_thread::sleep_for(3s);
                                  },
                              .progress = [](std::size_t, std::string_view, std::uint64_t) {}};
  const auto dump = take_dump(targets, options(), observer, {});
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->ranks.size(), 2U);
  // It came to the attach, and ended with the stub's silence, not with the first rank's reader.
  ASSERT_EQ(dump->ranks[1].statistics.phases.size(), 2U);
  EXPECT_LT(dump->ranks[1].statistics.elapsed_ms, 2500);
}

TEST(TakeDump, EveryTargetHasItsOwnErrorAndNoInventedRank) {
  std::vector<TargetSpec> targets;
  for (int i = 0; i < 5; ++i)
    targets.push_back(target(fmt::format("127.0.0.1:{}@{}", i + 1, i + 10)));
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
  std::vector<TargetSpec> targets;
  for (int i = 0; i < 8; ++i)
    targets.push_back(target(fmt::format("127.0.0.1:{}", i + 1)));
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
  const std::vector targets{target("127.0.0.1:1"), target("127.0.0.1:2")};
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
