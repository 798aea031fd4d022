#include "host/mqs/walk_budget.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <gtest/gtest.h>
#include <limits>
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
  RunBudget run(1024 * mebi, 4);
  EXPECT_EQ(run.share(), 128 * mebi);
  RankBudget liar(1024 * mebi, &run);
  std::uint64_t taken = 0;
  while (liar.take(mebi) == Verdict::granted)
    taken += mebi;
  EXPECT_EQ(liar.take(mebi), Verdict::run_full);
  EXPECT_EQ(taken, (128 + 512) * mebi);
  for (int i = 0; i < 3; ++i) {
    RankBudget honest(1024 * mebi, &run);
    EXPECT_EQ(honest.take(128 * mebi), Verdict::granted);
    EXPECT_EQ(honest.take(1), Verdict::run_full);
  }
  liar.give_back();
  RankBudget last(1024 * mebi, &run);
  EXPECT_EQ(last.take(640 * mebi), Verdict::granted);
}

TEST(RunBudget, EachRankHasSomethingOnAMachineThatSaysNothingIsFree) {
  RunBudget run(0, 4096);
  RankBudget rank(1024 * mebi, &run);
  EXPECT_EQ(rank.take(64 * mebi), Verdict::granted);
  EXPECT_EQ(rank.take(1), Verdict::run_full);
}

/// A container that has read many files is full of their pages, which the kernel drops for others.
TEST(MemoryLeft, OfAControlGroupThePageCacheIsFree) {
  const test::TempDirectory group;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(group.path() / name) << text;
  };
  write("memory.current", "1000000\n");
  write("memory.stat", "anon 200000\nfile 700000\ninactive_anon 1\nactive_anon 2\n"
                       "inactive_file 500000\nactive_file 150000\nslab_reclaimable 50000\n"
                       "slab_unreclaimable 90000\nslab 140000\n");
  EXPECT_EQ(memory_left_in_group(group.path()), std::numeric_limits<std::uint64_t>::max());
  write("memory.max", "max\n");
  EXPECT_EQ(memory_left_in_group(group.path()), std::numeric_limits<std::uint64_t>::max());
  write("memory.max", "1000000\n");
  EXPECT_EQ(memory_left_in_group(group.path()), 700'000U);
  write("memory.stat", "inactive_file 2000000\n");
  EXPECT_EQ(memory_left_in_group(group.path()), 1'000'000U);
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
