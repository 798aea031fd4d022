#include "tests/analysis/simulator.h"

#include <gmock/gmock.h>

namespace mqbridge::sim {
namespace {

using Where = RankState::Where;

constexpr int long_enough = 10000;
constexpr std::uint64_t schedules = 50;

/// Runs a program to where nothing moves any more.
World world_at_end(const char* text, std::uint64_t schedule) {
  World world(parse_program(text));
  std::mt19937_64 random(schedule);
  world.receiver_fetches = schedule % 2 == 0;
  run(world, random, long_enough, [](const World&, int) {});
  return world;
}

/// The statement at which each rank stands; behind the last one: in MPI_Finalize.
std::vector<std::size_t> places(const World& world) {
  std::vector<std::size_t> at;
  for (const RankState& rank : world.ranks)
    at.push_back(rank.at);
  return at;
}

struct Ending {
  const char* program;
  std::vector<std::size_t> at;
};

class SimulatedRun : public testing::TestWithParam<Ending> {};

TEST_P(SimulatedRun, EndsAsTheMpiSays) {
  for (std::uint64_t schedule = 0; schedule < schedules; ++schedule) {
    const World world = world_at_end(GetParam().program, schedule);
    EXPECT_FALSE(world.erroneous);
    EXPECT_EQ(places(world), GetParam().at) << GetParam().program << "schedule " << schedule;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Messages, SimulatedRun,
    testing::Values(
        Ending{"ranks 2\n0: send W 1 1 small\n", {1, 0}},  // eager
        Ending{"ranks 2\n0: send W 1 1 large\n", {0, 0}},  // rendezvous
        Ending{"ranks 2\n0: ssend W 1 1 small\n", {0, 0}}, //
        Ending{"ranks 2\n0: ssend W 1 1 small\n1: recv W 0 1\n", {1, 1}},
        Ending{"ranks 2\n0: ssend W 1 1 small\n1: irecv W 0 1 r0\n", {1, 1}}, // in MPI_Finalize
        Ending{"ranks 2\n0: ssend W 1 1 small\n1: forever; recv W 0 1\n", {0, 0}},
        Ending{"ranks 2\n0: send W 1 1 small\n1: recv W 0 2\n", {1, 0}},
        Ending{"ranks 2\n0: send W 1 1 small\n1: recv D 0 1\n", {1, 0}},
        Ending{"ranks 2\n0: send W 1 1 small\n1: recv W * *\n", {1, 1}},
        Ending{"ranks 2\n0: send W 1 1 large; send W 1 2 small\n1: recv W 0 2; recv W 0 1\n",
               {0, 0}}, // the second one is never sent
        Ending{"ranks 2\n0: isend W 1 1 large r0; send W 1 2 small\n1: recv W 0 2; recv W 0 1\n",
               {2, 2}},
        // In the order in which they were sent.
        Ending{"ranks 2\n0: send W 1 1 small; send W 1 2 small; send W 1 3 small\n"
               "1: recv W 0 *; recv W * *; recv W 0 3\n",
               {3, 3}},
        Ending{"ranks 2\n0: send W 1 1 small; send W 1 2 small\n1: recv W 0 *; recv W 0 1\n",
               {2, 1}},
        Ending{"ranks 2\n0: sendrecv W 1 1 large 1 1\n1: sendrecv W 0 1 large 0 1\n", {1, 1}},
        Ending{"ranks 2\n0: send W 1 1 large; recv W 1 1\n1: send W 0 1 large; recv W 0 1\n",
               {0, 0}},
        Ending{"ranks 2\n0: send W 1 1 small\n1: probe W * 1; probe W 0 *; recv W 0 1\n", {1, 3}},
        Ending{"ranks 2\n0: send W 1 1 small\n1: probe W 0 2\n", {1, 0}},
        Ending{"ranks 4\n3: send E 0 1 small\n1: recv E 0 *\n", {0, 0, 0, 1}}, // to itself
        Ending{"ranks 4\n3: send E 1 1 small\n1: recv E 0 *\n", {0, 1, 0, 1}}));

INSTANTIATE_TEST_SUITE_P(
    Requests, SimulatedRun,
    testing::Values(
        Ending{"ranks 2\n0: irecv W 1 1 r0; irecv W 1 2 r1; waitall r0 r1\n1: send W 0 2 small\n",
               {2, 1}},
        Ending{"ranks 2\n0: irecv W 1 1 r0; irecv W 1 2 r1; waitany r0 r1\n1: send W 0 2 small\n",
               {3, 1}},
        Ending{"ranks 2\n0: irecv W 1 1 r0; irecv W 1 2 r1; waitany r0 r1; waitsome r0 r1\n"
               "1: send W 0 2 small\n",
               {3, 1}}, // each once
        Ending{"ranks 2\n0: recv_init W 1 1 r0; wait r0\n1: send W 0 1 small\n", {2, 1}},
        Ending{"ranks 2\n0: recv_init W 1 1 r0; start r0; wait r0; start r0; wait r0\n"
               "1: send W 0 1 small\n",
               {4, 1}},
        Ending{"ranks 2\n0: ibarrier W r0; recv W 1 1\n1: ibarrier W r0; wait r0; send W 0 1 small",
               {2, 3}}, // goes on while the rank receives
        Ending{"ranks 2\n0: ibarrier W r0; forever\n1: ibarrier W r0; wait r0\n", {1, 2}},
        Ending{"ranks 3\n0: forever\n1: ibarrier W r0; wait r0\n2: ibarrier W r0; wait r0\n",
               {0, 1, 1}},
        Ending{"ranks 2\n0: compute; exit; barrier W\n1: barrier W\n", {1, 0}}));

TEST(RunOf, AMessageThatIsTooLongIsErroneous) {
  EXPECT_TRUE(world_at_end("ranks 2\n0: bcast W 0 large\n1: bcast W 0 small\n", 1).erroneous);
  EXPECT_TRUE(world_at_end("ranks 2\n0: start r0\n", 1).erroneous);
}

// In each size and with each root all of them end, and a barrier is passed by nobody before all
// have come.
TEST(Collectives, EndInEverySize) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (const Words* words :
         {&words_of(Verb::barrier), &words_of(Verb::bcast), &words_of(Verb::reduce),
          &words_of(Verb::allreduce), &words_of(Verb::gather), &words_of(Verb::ibarrier),
          &words_of(Verb::ibcast)})
      for (const char comm : communicators)
        for (int root = 0; root < (ranks + 1) / 2 && root < ranks / 2; ++root)
          for (const bool large : {false, true}) {
            const Statement statement{words->verb, comm, root, 0, large, 0, 0, {0}};
            Program program;
            program.ranks.assign(static_cast<std::size_t>(ranks),
                                 {statement, {.verb = Verb::waitall, .requests = {0}}});
            if (words->verb != Verb::ibarrier && words->verb != Verb::ibcast)
              for (auto& each : program.ranks)
                each[0].requests.clear();
            const World world = world_at_end(to_text(program).c_str(), 3);
            EXPECT_FALSE(world.erroneous);
            for (const RankState& rank : world.ranks)
              EXPECT_EQ(rank.where, Where::finalizing) << to_text(program);
          }
}

TEST(Barrier, IsPassedByNobodyBeforeAllHaveCome) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (std::uint64_t schedule = 0; schedule < schedules; ++schedule) {
      Program program;
      program.ranks.assign(static_cast<std::size_t>(ranks), {{.verb = Verb::barrier}});
      World world(program);
      std::mt19937_64 random(schedule);
      run(world, random, long_enough, [&](const World& now, int) {
        const bool passed =
            std::ranges::any_of(now.ranks, [](const RankState& rank) { return rank.at == 1; });
        const bool missing = std::ranges::any_of(now.ranks, [](const RankState& rank) {
          return rank.at == 0 && rank.where == Where::outside;
        });
        EXPECT_FALSE(passed && missing);
      });
    }
}

// As a real job of eight stood (Open MPI 4.1.4): two in a barrier that nobody else comes to wait
// for ranks 2 and 3; the child of a reduction's root has posted both of its receives.
TEST(Collectives, StandWhereThoseOfOpenMpiStand) {
  const World world =
      world_at_end("ranks 8\n0: barrier W\n1: barrier W\n2: bcast D 3 large\n"
                   "3: reduce D 2\n4: gather D 5\n5: allreduce W\n6: send W 5 1 large\n"
                   "7: ssend W 6 1 small\n",
                   7);
  std::vector<std::pair<int, int>> receives; // owner, source
  for (const Request& request : world.requests)
    if (request.kind == Request::Kind::receive && request.state == Request::State::pending)
      receives.emplace_back(request.owner, request.peer);
  EXPECT_THAT(receives,
              testing::UnorderedElementsAre(std::pair{0, 2}, std::pair{1, 3}, std::pair{2, 3},
                                            std::pair{3, 5}, std::pair{3, 7}, std::pair{5, 4}));
  EXPECT_THAT(places(world), testing::ElementsAre(0, 0, 0, 0, 1, 0, 0, 0));
}

} // namespace
} // namespace mqbridge::sim
