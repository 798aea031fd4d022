// Ranks of different servers share nothing that makes one wait for another.

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

  /// For how long the first `count` of them were held, in milliseconds.
  struct Held {
    double any = 0; ///< at least one of them
    double sum = 0; ///< each for itself
  };

  Held dump(std::size_t count) {
    std::vector<TargetSpec> targets;
    for (std::size_t i = 0; i < count; ++i)
      targets.push_back(ranks[i]->target());
    const auto all = take_dump(targets, tools.options, {}, {});
    EXPECT_TRUE(all);
    EXPECT_EQ(all->ranks.size(), count);
    Held held{all->stalled_ms.value_or(0)};
    for (const auto& rank : all->ranks) {
      EXPECT_EQ(rank.status, RankStatus::ok) << errors_of(rank);
      EXPECT_EQ(receives_of(rank), 10U);
      held.sum += rank.stopped_ms.value_or(0);
    }
    return held;
  }

  DumpTools tools;
  std::vector<std::unique_ptr<RankUnderTest>> ranks;
};

// How much the times in which they are held overlap does not depend on how busy the machine is.

TEST_F(ManyRanks, OfDifferentServersAreReadAtOnce) {
  const Held held = dump(ranks_at_once);
  EXPECT_LT(held.any, held.sum / 2);
}

TEST_F(ManyRanks, AreNoMoreThanJobsAtOnce) {
  tools.options.jobs = 1;
  const Held held = dump(4);
  EXPECT_NEAR(held.any, held.sum, 0.001 * held.sum) << "one after the other";
}

} // namespace
} // namespace mqbridge::test
