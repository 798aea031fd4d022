// Two looks at one job as one document.

#include "host/dump/take_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RankDump seen(int rank, std::string endpoint, std::int64_t pid) {
  RankDump dump;
  dump.rank = rank;
  dump.endpoint = std::move(endpoint);
  dump.pid = pid;
  dump.status = RankStatus::ok;
  dump.statistics.requests = 7;
  return dump;
}

RankDump lost(RankDump rank) {
  rank.status = RankStatus::failed;
  rank.errors = {{"connect.refused", RankError::Level::error, "nobody listens", "start a stub"}};
  return rank;
}

Dump first_look() {
  Dump dump;
  dump.taken_at = "2026-11-05T08:00:00Z";
  dump.skew_ms = 1;
  dump.stalled_ms = 10;
  dump.job_size = 3;
  dump.ranks = {seen(0, "a", 10), seen(1, "b", 11), seen(2, "c", 12)};
  return dump;
}

Dump look_at(std::vector<RankDump> ranks) {
  Dump dump;
  dump.taken_at = "2026-11-05T08:00:02Z";
  dump.skew_ms = 2;
  dump.stalled_ms = 20;
  dump.ranks = std::move(ranks);
  return dump;
}

class TwoLooks : public testing::Test {
protected:
  /// `second`: as take_dump() would tell of it and return it.
  Dump fold(Dump first, Dump second) {
    return look_again(
        std::move(first), [this](const RankDump& rank) { told_.push_back(rank.endpoint); },
        [&](const RankDone& done) {
          for (const RankDump& rank : second.ranks)
            done(rank);
          return std::move(second);
        });
  }

  std::vector<std::string> told_;
};

TEST_F(TwoLooks, TheSecondIsTheDocumentAndTheFirstStandsInIt) {
  auto second = look_at({seen(0, "a", 10), seen(1, "b", 11), seen(2, "c", 12)});
  for (RankDump& rank : second.ranks)
    rank.process_state = "S";
  const auto dump = fold(first_look(), std::move(second));
  EXPECT_EQ(dump.taken_at, "2026-11-05T08:00:02Z");
  EXPECT_EQ(dump.stalled_ms, 30) << "held in both";
  EXPECT_EQ(dump.skew_ms, 2);
  EXPECT_EQ(dump.job_size, 3);
  ASSERT_EQ(dump.ranks.size(), 3U);
  EXPECT_EQ(dump.ranks[2].process_state, "S");
  EXPECT_EQ(dump.ranks[2].statistics.requests, 7U);
  ASSERT_EQ(dump.earlier.size(), 1U);
  EXPECT_EQ(dump.earlier[0].taken_at, "2026-11-05T08:00:00Z");
  ASSERT_EQ(dump.earlier[0].ranks.size(), 3U);
  EXPECT_FALSE(dump.earlier[0].ranks[2].process_state);
  EXPECT_EQ(dump.earlier[0].ranks[2].statistics.requests, 0U);
  EXPECT_THAT(told_, ElementsAre("a", "b", "c"));
}

/// What was seen once is no earlier look: nobody may take it for one that did not change.
TEST_F(TwoLooks, ARankThatIsNotReachedAgainKeepsItsFirstLookAndSaysSo) {
  const auto dump = fold(first_look(), look_at({seen(0, "a", 10), lost(seen(1, "b", 11))}));
  ASSERT_EQ(dump.ranks.size(), 3U);
  EXPECT_EQ(dump.ranks[1].status, RankStatus::ok);
  ASSERT_EQ(dump.ranks[1].errors.size(), 1U);
  EXPECT_EQ(dump.ranks[1].errors[0].code, "twice.failed");
  EXPECT_EQ(dump.ranks[1].errors[0].level, RankError::Level::warning);
  EXPECT_THAT(dump.ranks[1].errors[0].message, HasSubstr("connect.refused: nobody listens"));
  EXPECT_THAT(dump.ranks[2].errors, IsEmpty()) << "nobody tried";
  ASSERT_EQ(dump.earlier[0].ranks.size(), 1U);
  EXPECT_EQ(dump.earlier[0].ranks[0].rank, 0);
  EXPECT_THAT(told_, ElementsAre("a", "b", "c")) << "each once";
}

/// A rank whose second walk failed still shows its call: that is less than the queues of the first.
TEST_F(TwoLooks, ARankWithoutQueuesInTheSecondKeepsThoseOfItsFirst) {
  auto first = first_look();
  first.ranks[1].communicators.emplace_back();
  first.ranks[2] = lost(first.ranks[2]);
  auto second = look_at({lost(seen(1, "b", 11)), lost(seen(2, "c", 12))});
  for (RankDump& rank : second.ranks)
    rank.status = RankStatus::partial;
  const auto dump = fold(std::move(first), std::move(second));
  EXPECT_EQ(dump.ranks[1].communicators.size(), 1U);
  EXPECT_EQ(dump.ranks[1].errors.at(0).code, "twice.failed");
  EXPECT_EQ(dump.ranks[2].status, RankStatus::partial) << "more than nothing";
  EXPECT_THAT(told_, ElementsAre("a", "b", "c")) << "each once";
}

/// A process that was gone in both looks had not left between them.
TEST_F(TwoLooks, AFailedFirstLookIsALook) {
  auto first = first_look();
  first.ranks[0] = lost(first.ranks[0]);
  first.ranks[1] = lost(first.ranks[1]);
  const auto dump = fold(std::move(first), look_at({lost(seen(0, "a", 10)), seen(1, "b", 11)}));
  ASSERT_EQ(dump.ranks.size(), 3U);
  EXPECT_EQ(dump.ranks[0].status, RankStatus::failed);
  EXPECT_EQ(dump.ranks[1].status, RankStatus::ok);
  ASSERT_EQ(dump.earlier.size(), 1U);
  ASSERT_EQ(dump.earlier[0].ranks.size(), 2U);
  EXPECT_EQ(dump.earlier[0].ranks[0].status, RankStatus::failed);
  EXPECT_EQ(dump.earlier[0].ranks[1].status, RankStatus::failed);
  EXPECT_THAT(told_, ElementsAre("b", "a", "c"));
}

TEST_F(TwoLooks, ARankThatComesWithTheSecondWasSeenOnce) {
  const auto dump = fold(first_look(), look_at({seen(3, "d", 13)}));
  ASSERT_EQ(dump.ranks.size(), 4U);
  EXPECT_EQ(dump.ranks[3].endpoint, "d");
  EXPECT_THAT(dump.earlier, IsEmpty());
}

TEST_F(TwoLooks, AnotherProcessAtTheSameEndpointIsNoSecondLook) {
  const auto dump = fold(first_look(), look_at({seen(0, "a", 99)}));
  EXPECT_EQ(dump.ranks[0].pid, 10);
  EXPECT_THAT(dump.ranks[0].errors.at(0).message, HasSubstr("another process"));
  EXPECT_THAT(dump.earlier, IsEmpty());
  EXPECT_THAT(told_, ElementsAre("a", "b", "c"));
}

/// The second look sees fewer targets, and may number their jobs otherwise.
TEST_F(TwoLooks, RanksAndJobsAreThoseOfTheFirst) {
  auto first = first_look();
  first.ranks[1].job_id = "2:x";
  auto second = look_at({seen(0, "b", 11)});
  second.ranks[0].job_id = "1:x";
  const auto dump = fold(std::move(first), std::move(second));
  EXPECT_EQ(dump.ranks[1].rank, 1);
  EXPECT_EQ(dump.ranks[1].job_id, "2:x");
  EXPECT_EQ(dump.ranks[1].endpoint, "b");
}

TEST_F(TwoLooks, WhatBothSayOfNoRankStandsThereOnce) {
  auto first = first_look();
  auto second = look_at({seen(0, "a", 10)});
  first.errors = {{"a", RankError::Level::warning, "same", ""},
                  {"b", RankError::Level::warning, "first", ""}};
  second.errors = {first.errors[0]};
  EXPECT_EQ(fold(std::move(first), std::move(second)).errors.size(), 2U);
}

TEST(Pause, EndsAtOnceWhereAStopIsRequested) {
  std::stop_source source;
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_FALSE(pause_for(std::chrono::seconds(60), source.get_token()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_TRUE(pause_for(std::chrono::milliseconds(1), {}));
}

} // namespace
} // namespace mqbridge::test
