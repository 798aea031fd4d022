#include "host/dump/take_dump.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

/// A stub that says what it can do after a while, has no vFile, and then says nothing more.
std::string slow_stub() {
  const std::string reply = "PacketSize=400";
  const auto sum = std::accumulate(reply.begin(), reply.end(), 0U, [](unsigned all, char c) {
    return (all + static_cast<unsigned char>(c)) & 0xFFU;
  });
  return fmt::format("exec:sleep 0.2; printf '+${}#{:02x}'; sleep 0.1; printf '+$#00'; sleep 5",
                     reply, sum);
}

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
  const std::vector targets{target("127.0.0.1:1"), target(slow_stub())};
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

TEST(TakeDump, EveryTargetHasItsOwnErrorAndNumber) {
  std::vector<TargetSpec> targets;
  for (int i = 0; i < 5; ++i)
    targets.push_back(target(fmt::format("127.0.0.1:{}", i + 1)));
  std::vector<int> seen;
  const DumpObserver observer{.rank_done = [&](const RankDump& rank) { seen.push_back(rank.rank); },
                              .progress = {}};
  const auto dump = take_dump(targets, options(), observer, {});
  ASSERT_TRUE(dump);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4));
  for (const auto& rank : dump->ranks) {
    EXPECT_EQ(rank.status, RankStatus::failed);
    ASSERT_EQ(rank.errors.size(), 1U);
    EXPECT_EQ(rank.errors[0].code, "connect.refused");
  }
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
