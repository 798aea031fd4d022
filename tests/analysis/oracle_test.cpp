#include "tests/analysis/oracle.h"
#include "tests/analysis/simulator.h"

#include <gmock/gmock.h>
#include <random>

namespace mqbridge::sim {
namespace {

struct Known {
  const char* program;
  std::set<int> dead;
  std::set<int> core;
};

class Oracle : public testing::TestWithParam<Known> {};

// Where nothing moves any more both bounds are the same but for ranks that compute.
TEST_P(Oracle, KnowsWhoIsDead) {
  for (std::uint64_t schedule = 0; schedule < 20; ++schedule) {
    World world(parse_program(GetParam().program));
    std::mt19937_64 random(schedule);
    run(world, random, 10000, [](const World&, int) {});
    ASSERT_FALSE(world.erroneous);
    const Truth truth = truth_of(world);
    EXPECT_EQ(truth.dead, GetParam().dead) << GetParam().program;
    EXPECT_EQ(truth.certain_dead, GetParam().dead) << GetParam().program;
    EXPECT_EQ(core_of(world, truth), GetParam().core) << GetParam().program;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Deadlocks, Oracle,
    testing::Values(
        Known{"ranks 2\n0: recv W 1 1\n1: recv W 0 1\n", {0, 1}, {0, 1}},
        Known{"ranks 3\n0: ssend W 1 1 small\n1: ssend W 0 1 small\n2: recv W 0 1\n",
              {0, 1, 2},
              {0, 1}},
        Known{"ranks 3\n0: recv W * 1\n1: recv W * 1\n2: recv W 0 1\n", {0, 1, 2}, {0, 1, 2}},
        Known{"ranks 2\n0: recv W 0 1\n", {0, 1}, {0}},     // from itself
        Known{"ranks 2\n0: recv W 1 1\n1:\n", {0, 1}, {0}}, // from one in MPI_Finalize
        Known{"ranks 3\n0: recv W 1 1\n1: exit\n2: recv W 0 1\n", {0, 2}, {0}},
        // With the help of one alone neither can go on: it is its own core, and so is the cycle.
        Known{"ranks 3\n0: sendrecv W 1 1 large 2 1\n1: ssend W 0 5 small\n2:\n", {0, 1, 2}, {0}},
        // A barrier of four, in which everybody waits for the one that is missing.
        Known{"ranks 4\n0: barrier W\n1: barrier W\n2: barrier W\n3: recv W 1 1\n",
              {0, 1, 2, 3},
              {0, 1, 3}},
        Known{"ranks 4\n0: barrier W; bcast W 0 small\n1: bcast W 0 small; barrier W\n2:\n3:\n",
              {0, 1, 2, 3},
              {0}},
        Known{"ranks 2\n0: irecv W 1 1 r0; irecv W 1 2 r1; waitany r0 r1\n1: recv W 0 1\n",
              {0, 1},
              {0, 1}}));

INSTANTIATE_TEST_SUITE_P(
    Jobs, Oracle,
    testing::Values(
        Known{"ranks 2\n0:\n1:\n", {}, {}}, Known{"ranks 2\n0: recv W 1 1\n1: forever\n", {}, {}},
        Known{"ranks 3\n0: recv W * 1\n1: recv W 0 1\n2: forever\n", {}, {}},
        Known{"ranks 3\n0: recv W 1 1\n1: recv W 0 1\n2: forever\n", {0, 1}, {0, 1}},
        Known{"ranks 3\n0: irecv W 1 1 r0; irecv W 2 1 r1; waitall r0 r1\n1: recv W 0 1\n"
              "2: forever\n",
              {0, 1},
              {0, 1}},
        Known{"ranks 3\n0: irecv W 1 1 r0; irecv W 2 1 r1; waitsome r0 r1\n1: recv W 0 1\n"
              "2: forever\n",
              {},
              {}},
        Known{"ranks 2\n0: exit\n1:\n", {}, {}}));

// Ranks 0 and 1 wait for each other, as a graph of ranks would say: but the barrier of rank 0 goes
// on while it receives, once rank 2 has joined.
TEST(OracleOf, NonblockingCollectivesThatGoOnInAnotherCall) {
  World world(parse_program("ranks 3\n0: ibarrier W r0; recv W 1 1\n"
                            "1: ibarrier W r0; wait r0; send W 0 1 small\n2: forever\n"));
  std::mt19937_64 random(1);
  run(world, random, 10000, [](const World&, int) {});
  EXPECT_EQ(truth_of(world).dead, std::set<int>());
}

// The bounds: a message on its way has another tag than its receiver waits for. Nobody but the
// simulator can know.
TEST(OracleOf, AMessageInFlightLeavesOpenWhatItIs) {
  World world(parse_program("ranks 2\n0: recv W 1 1\n1: send W 0 2 small; recv W 0 1\n"));
  std::mt19937_64 random(1);
  const auto in_flight = [](const World& now) {
    const auto channel = now.channels.find({1, 0, 'W'});
    return channel != now.channels.end() && !channel->second.in_flight.empty() &&
           now.rank(1).at == 1 && now.rank(1).where == RankState::Where::in_call &&
           now.rank(0).where == RankState::Where::in_call;
  };
  for (int i = 0; i < 1000 && !in_flight(world); ++i) {
    world = World(world.program);
    random.seed(static_cast<std::uint64_t>(i));
    for (int move = 0; move < 20 && !in_flight(world); ++move)
      run(world, random, 1, [](const World&, int) {});
  }
  ASSERT_TRUE(in_flight(world));
  EXPECT_EQ(truth_of(world).dead, (std::set<int>{0, 1}));
  EXPECT_EQ(truth_of(world).certain_dead, std::set<int>());
}

TEST(OracleOf, ARankOfWhichNothingIsKnownTakesItForFree) {
  World world(parse_program("ranks 2\n0: recv W 1 1\n1: recv W 0 1\n"));
  std::mt19937_64 random(1);
  run(world, random, 10000, [](const World&, int) {});
  EXPECT_EQ(truth_of(world, {1}).dead, std::set<int>());
}

} // namespace
} // namespace mqbridge::sim
