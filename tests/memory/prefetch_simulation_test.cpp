#include "host/memory/prefetch_budget.h"
#include "tests/memory/simulated_layouts.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

namespace mqbridge {
namespace {

constexpr double millisecond = 1e-3;
constexpr double fast_link = 100e6; ///< bytes a second: what gdbserver answers with
constexpr double ten_mbit = 1.25e6; ///< a slow link, and all below
constexpr double serial = 11.5e3;   ///< 115,200 baud
constexpr double page_bytes = 4096;

rsp::LinkEstimate link_of(double round_trip, double bytes_per_second) {
  return {round_trip, bytes_per_second, 6e-6};
}

double over_read(const SimulatedCost& cost) {
  return static_cast<double>(cost.bytes) / (static_cast<double>(cost.pages_touched) * page_bytes);
}

/// Of those that read at most so many times the touched pages.
double best_of_others(const SimulatedLayout& layout, const rsp::LinkEstimate& link,
                      double most_over_read) {
  double best = simulate(layout, link, Pager::on_demand).seconds;
  for (const auto pager : {Pager::granules, Pager::pointers, Pager::mapping}) {
    const auto cost = simulate(layout, link, pager);
    if (over_read(cost) <= most_over_read)
      best = std::min(best, cost.seconds);
  }
  return best;
}

struct LayoutCase {
  const char* name;
  SimulatedLayout (*make)();
  bool fast_only = false; ///< too long a simulation for slow links, which smaller ones cover
};

const Platform big_32 = [] {
  Platform platform;
  platform.byte_order = ByteOrder::big;
  platform.set_data_model(DataModel::ilp32);
  return platform;
}();

const LayoutCase cases[] = {
    {"Contiguous", [] { return contiguous_list(1000); }},
    {"Scattered1MiB", [] { return scattered_list(1000, 1); }},
    {"Scattered4MiB", [] { return scattered_list(1000, 4); }},
    {"Scattered4MiBBig32", [] { return scattered_list(1000, 4, big_32); }},
    {"LoneNodes16MiB", [] { return lone_nodes_list(1000, 16); }, true},
    {"Busy4MiB", [] { return busy_list(1000, 4); }},
    {"PointerArray", [] { return pointer_array(1000); }},
    {"InterleavedLists", [] { return interleaved_lists(1000); }},
    {"OpenMpi10", [] { return openmpi_rank(10); }},
    {"OpenMpi1000", [] { return openmpi_rank(1000); }},
};

/// Of the same kinds, and long simulations under a sanitizer.
const LayoutCase large_cases[] = {
    {"Scattered64MiB", [] { return scattered_list(1000, 64); }},
    {"Scattered1GiB", [] { return scattered_list(1000, 1024); }, true},
    {"LoneNodes64MiB", [] { return lone_nodes_list(1000, 64); }, true},
    {"Busy64MiB", [] { return busy_list(1000, 64); }, true},
};

class EachLayout : public testing::TestWithParam<LayoutCase> {};

INSTANTIATE_TEST_SUITE_P(Layouts, EachLayout, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });
INSTANTIATE_TEST_SUITE_P(FullLayouts, EachLayout, testing::ValuesIn(large_cases),
                         [](const auto& each) { return std::string(each.param.name); });

/// So that GoogleTest does not print bytes.
void PrintTo(const LayoutCase& each, std::ostream* out) {
  *out << each.name;
}

TEST_P(EachLayout, IsAtMostTwiceAsSlowAsTheBestWayOfReadingIt) {
  const auto layout = GetParam().make();
  for (const double round_trip : {0.0, 0.1, 1.0, 10.0, 50.0}) {
    for (const double speed : {serial, 125e3, ten_mbit, fast_link}) {
      if (GetParam().fast_only && speed != fast_link)
        continue;
      const auto link = link_of(round_trip * millisecond, speed);
      const auto cost = simulate(layout, link);
      const auto where = fmt::format("{} ms, {} bytes/s: {} bursts, {:.2f} of the touched pages",
                                     round_trip, speed, cost.bursts, over_read(cost));
      if (speed <= ten_mbit) {
        EXPECT_LE(over_read(cost), speed == serial ? 1 : 1.5) << where;
      }
      // Where a round trip costs as much as 15 pages, ways that read more in vain than the bound on
      // bytes allows may be faster: there they are none to compare with.
      const double bound =
          speed == ten_mbit && round_trip == 50 ? 1.5 : std::numeric_limits<double>::infinity();
      EXPECT_LE(cost.seconds, 2 * best_of_others(layout, link, bound)) << where;
    }
  }
}

/// The pages are known then: each mapping costs one round trip, whatever the link, and on a slow
/// one nothing is read in vain. (Where lines are read instead of pages there is nothing to replay.)
TEST_P(EachLayout, ReplayedItTakesAsLongAsItsPages) {
  const auto layout = GetParam().make();
  const auto known = simulate(layout, link_of(10 * millisecond, fast_link)).touched;
  const auto bursts = static_cast<double>(layout.process.mappings().ranges.size() + 1);
  for (const double round_trip : {0.1, 1.0, 10.0, 50.0}) {
    for (const double speed : {ten_mbit, fast_link}) {
      const auto link = link_of(round_trip * millisecond, speed);
      if (static_cast<double>(read_unit(link)) < page_bytes)
        continue;
      const auto cost = simulate(layout, link, {.replay = known});
      const auto where = fmt::format("{} ms, {} bytes/s: {} bursts, {:.2f} of the touched pages",
                                     round_trip, speed, cost.bursts, over_read(cost));
      const auto pages = static_cast<double>(cost.pages_touched);
      EXPECT_LE(static_cast<double>(cost.bursts), bursts) << where;
      if (speed == ten_mbit) {
        EXPECT_LE(over_read(cost), 1) << where;
      }
      EXPECT_LE(cost.seconds, 2 * bursts * link.round_trip + link.burst(pages * page_bytes, pages))
          << where;
    }
  }
}

/// Both are wrong by a factor of two, so that a burst carries four times too much or too little.
TEST_P(EachLayout, IsNotMuchSlowerWithAWrongEstimateOfTheLink) {
  const auto layout = GetParam().make();
  const auto link = link_of(10 * millisecond, fast_link);
  const auto best = best_of_others(layout, link, std::numeric_limits<double>::infinity());
  for (const double error : {0.5, 2.0})
    EXPECT_LE(simulate(layout, link, {.estimate_error = error}).seconds, 5 * best)
        << "estimated " << error << " times as much";
}

/// QEMU's stub gives no map: what is around pages that could be read is tried.
TEST_P(EachLayout, WithoutAMapItIsNotMuchSlowerThanPagesOnDemand) {
  const auto layout = GetParam().make();
  const auto link = link_of(10 * millisecond, fast_link);
  EXPECT_LE(simulate(layout, link, {.map_known = false}).seconds,
            1.5 * simulate(layout, link, Pager::on_demand).seconds);
}

TEST(PrefetchSimulation, WithoutAMapDenseMemoryIsReadFiveTimesAsFast) {
  const auto link = link_of(10 * millisecond, fast_link);
  for (const auto& layout : {contiguous_list(1000), scattered_list(1000, 4), openmpi_rank(1000)}) {
    const auto on_demand = simulate(layout, link, Pager::on_demand);
    const auto cost = simulate(layout, link, {.map_known = false});
    EXPECT_LE(cost.seconds, on_demand.seconds / 5)
        << layout.name << ": " << cost.bursts << " bursts instead of " << on_demand.bursts;
  }
}

TEST(PrefetchSimulation, ScatteredNodesTakeFewRoundTripsAt10Milliseconds) {
  const auto link = link_of(10 * millisecond, fast_link);
  EXPECT_LE(simulate(scattered_list(1000, 1), link).bursts, 5U);
  EXPECT_LE(simulate(scattered_list(1000, 4), link).bursts, 9U);
  EXPECT_LE(simulate(scattered_list(1000, 64), link).bursts, 60U);
}

/// Of such a list only the next node is known, unless something else of it was read as well.
TEST(PrefetchSimulation, LoneNodesAreReadSeveralAtATime) {
  const auto layout = lone_nodes_list(1000, 64);
  for (const double round_trip : {0.3, 1.0, 3.0}) {
    const auto link = link_of(round_trip * millisecond, fast_link);
    const auto cost = simulate(layout, link);
    EXPECT_LE(3 * cost.seconds, 2 * simulate(layout, link, Pager::on_demand).seconds)
        << round_trip << " ms: " << cost.bursts << " bursts";
    EXPECT_LE(cost.seconds, 0.6 * simulate(layout, link, Pager::mapping).seconds)
        << round_trip << " ms: " << cost.bursts << " bursts";
  }
}

TEST(PrefetchSimulation, AnOpenMpiRankTakesFourRoundTrips) {
  for (const double round_trip : {10.0, 50.0})
    EXPECT_LE(simulate(openmpi_rank(1000), link_of(round_trip * millisecond, fast_link)).bursts, 4U)
        << round_trip << " ms";
}

TEST(PrefetchSimulation, ALongQueueTakesAsLongAsItsPagesInBulk) {
  const auto layout = openmpi_rank(100'000);
  for (const double round_trip : {0.0, 1.0, 10.0}) {
    const auto cost = simulate(layout, link_of(round_trip * millisecond, fast_link));
    const auto bulk = static_cast<double>(cost.pages_touched) * page_bytes / fast_link;
    EXPECT_LE(cost.seconds, 1.3 * bulk) << round_trip << " ms, " << cost.bursts << " bursts";
    EXPECT_LE(over_read(cost), 1.1);
  }
}

} // namespace
} // namespace mqbridge
