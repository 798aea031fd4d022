// Ranks of different servers share nothing that makes one wait for another.

#include "host/dump/phase_clock.h"
#include "tests/dump/real/rank_under_test.h"

#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

constexpr bench::LinkSpec fifty_ms{.round_trip = 50ms};
constexpr std::size_t ranks_at_once = 8;

class ManyRanks : public testing::Test {
protected:
  ManyRanks() {
    for (std::size_t i = 0; i < ranks_at_once; ++i)
      ranks.push_back(std::make_unique<RankUnderTest>(
          "recorder_list", std::vector<std::string>{"10", "0", "1"}, ServerMode::multi, fifty_ms));
  }

  /// Milliseconds for the first `count` of them.
  double dump(std::size_t count) {
    std::vector<TargetSpec> targets;
    for (std::size_t i = 0; i < count; ++i)
      targets.push_back(ranks[i]->target());
    const auto start = PhaseClock::Clock::now();
    const auto all = take_dump(targets, tools.options, {}, {});
    const double wall = milliseconds(PhaseClock::Clock::now() - start);
    EXPECT_TRUE(all);
    EXPECT_EQ(all->ranks.size(), count);
    for (const auto& rank : all->ranks) {
      EXPECT_EQ(rank.status, RankStatus::ok) << errors_of(rank);
      EXPECT_EQ(receives_of(rank), 10U);
    }
    return wall;
  }

  DumpTools tools;
  std::vector<std::unique_ptr<RankUnderTest>> ranks;
};

TEST_F(ManyRanks, OfDifferentServersAreReadAtOnce) {
  const double one = dump(1);
  const double all = dump(ranks_at_once);
  EXPECT_GT(one, 200) << "the link is what takes the time";
  // One after the other would be eight times one. Times are measured by the benchmark, not here.
  EXPECT_LT(all, 4 * one);
}

TEST_F(ManyRanks, AreNoMoreThanJobsAtOnce) {
  const double one = dump(1);
  tools.options.jobs = 1;
  EXPECT_GT(dump(4), 3 * one);
}

} // namespace
} // namespace mqbridge::test
