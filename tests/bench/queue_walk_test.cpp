#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/own_dump.h"
#include "bench/queue_walk/peer_run.h"
#include "bench/queue_walk/plan_repeats.h"
#include "bench/queue_walk/prediction.h"
#include "bench/queue_walk/quantile.h"
#include "bench/queue_walk/runner.h"
#include "bench/queue_walk/stage.h"
#include "bench/queue_walk/touched_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Quantile, LiesBetweenSamples) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.9), 3);
  EXPECT_EQ(quantile({2, 1}, 0.5), 1.5);
  EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 0.25), 2);
  EXPECT_EQ(quantile({1, 2, 3}, 1), 3);
}

TEST(Repeats, AreFiveOfWhatTakesLong) {
  constexpr Repeats repeats;
  EXPECT_EQ(repeats.of(0.1), 20);
  EXPECT_EQ(repeats.of(10), 20);
  EXPECT_EQ(repeats.of(10.1), 5);
}

TEST(Cells, EachIsThereOnce) {
  for (const bool quick : {false, true}) {
    std::set<std::string> names;
    for (const auto& cell : all_cells(quick))
      EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
    EXPECT_TRUE(names.contains(Cell{}.name()));
  }
}

TEST(Cells, TheQuickRunIsPartOfTheFullOne) {
  std::set<std::string> full;
  for (const auto& cell : all_cells(false))
    full.insert(cell.name());
  const auto quick = all_cells(true);
  EXPECT_LT(quick.size(), full.size());
  for (const auto& cell : quick)
    EXPECT_TRUE(full.contains(cell.name())) << cell.name();
}

/// What a prediction stands on comes first.
TEST(Cells, FewerOperationsComeBeforeMoreOfThem) {
  const auto cells = all_cells(false);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const auto& before = cells[i - 1];
    const auto& cell = cells[i];
    if (before.filler == cell.filler && before.shuffled_in == cell.shuffled_in &&
        before.architecture == cell.architecture && before.ranks == cell.ranks) {
      EXPECT_LE(before.operations, cell.operations) << cell.name();
    }
  }
}

Measured cost(double seconds, std::uint64_t round_trips, std::uint64_t bytes) {
  Measured made;
  made.wall_s = seconds;
  made.round_trips = round_trips;
  made.bytes = bytes;
  return made;
}

TEST(Prediction, IsRoundTripsAndBytesOnTheOtherLink) {
  Predictor predictor;
  predictor.learn("a", {.link = {.round_trip = 1ms}}, cost(1.5, 1000, 100'000));
  // Half a second is not the link's.
  EXPECT_DOUBLE_EQ(*predictor.predict("a", {.link = {.round_trip = 10ms}}), 0.5 + 10);
  const Cell slow{.link = {.round_trip = 1ms, .bytes_per_second = 50'000}};
  EXPECT_DOUBLE_EQ(*predictor.predict("a", slow), 0.5 + 1 + 2);
}

TEST(Prediction, GrowsInAStraightLineFromTwoNumbersOfOperations) {
  Predictor predictor;
  const LinkSpec link{.round_trip = 1ms};
  // Half a second and 30 round trips to begin with; a millisecond and a round trip an operation.
  predictor.learn("a", {.operations = 10, .link = link}, cost(0.51 + 0.04, 40, 0));
  predictor.learn("a", {.operations = 1000, .link = link}, cost(1.5 + 1.03, 1030, 0));
  const Cell more{.operations = 100'000, .link = {.round_trip = 2ms}};
  EXPECT_NEAR(*predictor.predict("a", more), 0.5 + 100 + 2 * 100.03, 1e-6);
}

TEST(Prediction, OfMoreOperationsNeedsTwoNumbersOfThem) {
  Predictor predictor;
  predictor.learn("a", {.operations = 1000, .link = {}}, cost(1, 0, 0));
  predictor.learn("a", {.operations = 1000, .link = {.round_trip = 1ms}}, cost(1, 0, 0));
  EXPECT_FALSE(predictor.predict("a", {.operations = 10'000, .link = {}}));
}

TEST(Prediction, ComesFromTheNearestCells) {
  Predictor predictor;
  predictor.learn("a", {.operations = 10, .link = {}}, cost(1000, 0, 0));
  predictor.learn("a", {.operations = 100, .link = {}}, cost(1, 0, 0));
  predictor.learn("a", {.operations = 1000, .link = {}}, cost(10, 0, 0));
  predictor.learn("a", {.operations = 100'000, .link = {}}, cost(11, 0, 0));
  EXPECT_DOUBLE_EQ(*predictor.predict("a", {.operations = 10'000, .link = {}}), 100);
}

// Where a link is slow a contender may read less: what it read over the slowest one counts.
TEST(Prediction, TakesTheLinkWhoseBandwidthIsNearest) {
  Predictor predictor;
  const auto cell_of = [](double bytes_per_second) {
    return Cell{.link = {.round_trip = 1ms, .bytes_per_second = bytes_per_second}};
  };
  predictor.learn("a", cell_of(0), cost(0.002, 1, 1'500'000));
  predictor.learn("a", cell_of(125e6), cost(0.001 + 1.5e6 / 125e6, 1, 1'500'000));
  predictor.learn("a", cell_of(1.25e6), cost(0.001 + 0.4, 1, 500'000));
  EXPECT_NEAR(*predictor.predict("a", cell_of(125e3)), 0.001 + 4, 1e-6);
}

TEST(Prediction, TakesACellOfTheSameLayoutWhereThereIsOne) {
  Predictor predictor;
  const Cell random{.filler = Filler::recorder, .link = {}, .shuffled_in = 1 << 20};
  Cell contiguous = random;
  contiguous.shuffled_in = 0;
  predictor.learn("a", contiguous, cost(1, 10, 0));
  predictor.learn("a", random, cost(2, 20, 0));
  Cell far = random;
  far.link.round_trip = 100ms;
  EXPECT_DOUBLE_EQ(*predictor.predict("a", far), 2 + 2);
}

TEST(Prediction, NothingIsKnownOfOthers) {
  Predictor predictor;
  predictor.learn("a", {.operations = 1000}, cost(1, 0, 0));
  EXPECT_FALSE(predictor.predict("b", {.operations = 1000}));
  EXPECT_FALSE(predictor.predict("a", {.operations = 10})); // more tells nothing of less
  EXPECT_FALSE(predictor.predict("a", {.architecture = "s390x"}));
  EXPECT_FALSE(predictor.predict("a", {.filler = Filler::recorder}));
  EXPECT_FALSE(predictor.predict("a", {.ranks = 16}));
}

/// A contender that says what it would take, in round trips, and takes no time.
class CountingContender {
public:
  Contender contender() {
    return {"counting", [](const Cell&) { return true; },
            [this](Stage&, const Cell& cell) -> Result<Attempt> {
              round_trips.push_back(cell.link.round_trip);
              Attempt made;
              made.cost.round_trips = 1000;
              made.cost.wall_s =
                  0.01 + 1000 * std::chrono::duration<double>(round_trips.back()).count();
              return made;
            }};
  }
  std::vector<std::chrono::nanoseconds> round_trips; ///< of the links it ran over
};

TEST(Runner, TriesWithoutTheLinkWhatMightTakeMinutesOverIt) {
  CountingContender counting;
  const std::vector<Contender> contenders{counting.contender()};
  std::ostringstream out;
  MergedJson reporter(out);
  Runner runner({.repeats = {.ordinary = 2}}, contenders, reporter);
  runner.run({.filler = Filler::recorder, .operations = 10, .link = {.round_trip = 50ms}});
  EXPECT_THAT(counting.round_trips, testing::ElementsAre(0ms)) << "50 seconds are too many";
  runner.run({.filler = Filler::recorder, .operations = 10, .link = {.round_trip = 1ms}});
  EXPECT_THAT(counting.round_trips, testing::ElementsAre(0ms, 1ms, 1ms, 1ms));
  reporter.finish();
  EXPECT_THAT(out.str(), testing::HasSubstr("predicted"));
}

/// The process has one message less than the second cell says.
TEST(OwnDump, RefusesToTimeAnythingButTheMessagesThatWereSent) {
  Cell cell{.filler = Filler::unexpected, .operations = 400, .link = {}};
  CacheStates states;
  const OwnDump own(CacheMode::full, Knowledge::nothing, states);
  Stage stage(cell);
  const auto attempt = own.run(stage, cell);
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_EQ(attempt->answer.operations, 400U);
  ++cell.operations;
  EXPECT_EQ(own.run(stage, cell).error().code, "bench.answer");
}

TEST(PeerLine, HasTimesAndAnAnswer) {
  const auto attempt = parse_peer_line(
      R"({"tool":"gdb","walk_s":1.5,"total_s":2.5,"operations":1000,"checksum":"0badcafe","x":[]})"
      "\n");
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_EQ(attempt->cost.walk_s, 1.5);
  EXPECT_EQ(attempt->cost.wall_s, 2.5);
  EXPECT_EQ(attempt->answer.operations, 1000U);
  EXPECT_EQ(attempt->answer.checksum, "0badcafe");
}

TEST(PeerLine, WhatWasDoneFirstDoesNotCount) {
  const auto attempt = parse_peer_line(
      R"({"walk_s":1,"total_s":4.5,"first_s":2,"operations":0,"checksum":"0badcafe"})");
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_EQ(attempt->cost.walk_s, 1);
  EXPECT_EQ(attempt->cost.wall_s, 2.5);
}

TEST(PeerLine, AnythingElseIsAnError) {
  for (const char* line :
       {"", "{", "[]", "null", "Segmentation fault", R"({"walk_s":1,"total_s":1,"operations":1})",
        R"({"walk_s":"1","total_s":1,"operations":1,"checksum":""})",
        R"({"walk_s":-1,"total_s":1,"operations":1,"checksum":""})",
        R"({"walk_s":1,"total_s":1,"operations":-1,"checksum":""})",
        R"({"walk_s":1,"total_s":1,"operations":1,"checksum":7})"}) {
    const auto attempt = parse_peer_line(line);
    ASSERT_FALSE(attempt) << line;
    EXPECT_EQ(attempt.error().code, "bench.peer");
  }
}

PageRuns pages_of(const std::string& text) {
  std::istringstream trace(text);
  return pages_of_trace(trace);
}

TEST(TouchedPages, AreThoseOfReadsOfEachKind) {
  const auto runs = pages_of("0.1 host:1 -> m7ffff0000,1000\n"
                             "0.1 host:1 <- 00\n"
                             "0.2 host:1 -> x7ffff1000,2000\n"
                             "0.3 host:1 -> vFile:pread:5,1000,7ffff8000\n");
  EXPECT_THAT(runs, ElementsAre(PageRun{0x7ffff0, 3}, PageRun{0x7ffff8, 1}));
}

TEST(TouchedPages, AreNotThoseOfOtherRequests) {
  EXPECT_THAT(pages_of("0.1 host:1 <- m1000,10\n"                     // said by the stub
                       "0.2 host:1 -> vFile:pread:5,800,3000\n"       // another file
                       "0.3 host:1 -> qXfer:auxv:read::0,1000\n"      //
                       "0.35 host:1 -> m1000,400\n"                   // an ELF header, no page
                       "0.4 host:1 -> m1000\n0.5 host:1 -> m1000,0\n" //
                       "0.6 host:1 -> mxyz,10\n0.7 host:1 -> m11112222333344445,1\nnonsense\n"),
              IsEmpty());
}

} // namespace
} // namespace mqbridge::bench
