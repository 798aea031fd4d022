#include "host/dump/rank/phase_clock.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(PhaseClock, APhaseThatIsBegunAgainGoesOn) {
  rsp::Counters counters;
  PhaseClock clock;
  clock.watch([&] { return counters; });
  clock.begin(PhaseName::walk);
  counters.round_trips = 2;
  clock.begin(PhaseName::stacks);
  counters.round_trips = 5;
  clock.begin(PhaseName::walk);
  counters.round_trips = 12;
  Statistics statistics;
  clock.finish(statistics);
  ASSERT_EQ(statistics.phases.size(), 2U);
  EXPECT_EQ(statistics.phases[0].name, PhaseName::walk);
  EXPECT_EQ(statistics.phases[0].round_trips, 9U);
  EXPECT_EQ(statistics.phases[1].name, PhaseName::stacks);
  EXPECT_EQ(statistics.phases[1].round_trips, 3U);
}

} // namespace
} // namespace mqbridge
