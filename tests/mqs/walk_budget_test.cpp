#include "host/mqs/walk_budget.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge {
namespace {

using Verdict = RankBudget::Verdict;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

TEST(RankBudget, IsMetByTheRankAlone) {
  RankBudget rank(100, nullptr);
  EXPECT_EQ(rank.take(60), Verdict::granted);
  EXPECT_EQ(rank.take(41), Verdict::rank_full);
  EXPECT_EQ(rank.take(40), Verdict::granted) << "what did not fit was not taken";
  rank.give_back();
  EXPECT_EQ(rank.take(100), Verdict::granted);
}

/// One that takes all it can leaves the others what is theirs.
TEST(RunBudget, ARankThatLiesTakesNothingFromTheOthers) {
  RunBudget run(64 * mebi, 4);
  EXPECT_EQ(run.share(), 8 * mebi);
  RankBudget liar(1024 * mebi, &run);
  std::uint64_t taken = 0;
  while (liar.take(mebi) == Verdict::granted)
    taken += mebi;
  EXPECT_EQ(liar.take(mebi), Verdict::run_full);
  EXPECT_EQ(taken, (8 + 32) * mebi);
  for (int i = 0; i < 3; ++i) {
    RankBudget honest(1024 * mebi, &run);
    EXPECT_EQ(honest.take(8 * mebi), Verdict::granted);
    EXPECT_EQ(honest.take(1), Verdict::run_full);
  }
  liar.give_back();
  RankBudget last(1024 * mebi, &run);
  EXPECT_EQ(last.take(40 * mebi), Verdict::granted);
}

TEST(MemoryLeft, IsNoMoreThanTheMachineHas) {
  std::ifstream in("/proc/meminfo");
  std::string word;
  std::uint64_t total_kib = 0;
  in >> word >> total_kib;
  ASSERT_EQ(word, "MemTotal:");
  EXPECT_GT(memory_left(), mebi);
  EXPECT_LE(memory_left(), total_kib * 1024);
}

} // namespace
} // namespace mqbridge
