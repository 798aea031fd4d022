#include "tests/analysis/generator.h"
#include "tests/analysis/oracle.h"
#include "tests/analysis/scene.h"
#include "tests/analysis/shrink.h"

#include <gmock/gmock.h>
#include <set>

namespace mqbridge::sim {
namespace {

TEST(RandomProgram, IsTheSameForTheSameSeed) {
  EXPECT_EQ(random_program(7), random_program(7));
  EXPECT_NE(random_program(7), random_program(8));
}

TEST(RandomProgram, HangsInHalfOfTheRuns) {
  constexpr int count = 500;
  int runs = 0;
  int hanging = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed)
    if (const auto scene = play(random_program(seed), {}, seed)) {
      ++runs;
      hanging += truth_of(scene->world).dead.empty() ? 0 : 1;
    }
  EXPECT_GT(runs, count * 9 / 10);
  EXPECT_GT(hanging, runs * 4 / 10);
  EXPECT_LT(hanging, runs * 6 / 10);
}

TEST(RandomProgram, HasEveryStatement) {
  std::set<Verb> verbs;
  std::set<int> sizes;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Program program = random_program(seed);
    sizes.insert(program.size());
    for (const auto& rank : program.ranks)
      for (const Statement& one : rank)
        verbs.insert(one.verb);
  }
  EXPECT_EQ(verbs.size(), static_cast<std::size_t>(Verb::ibcast) + 1);
  EXPECT_THAT(sizes, testing::ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

TEST(Shrink, LeavesWhatFails) {
  const auto fails = [](const Program& program) {
    return to_text(program).find("ssend") != std::string::npos;
  };
  const Program small = shrink(parse_program("ranks 4\n0: barrier W; ssend W 1 1 small; forever\n"
                                             "1: recv W 0 1\n3: compute\n"),
                               fails);
  EXPECT_EQ(to_text(small), "ranks 2\n0: ssend W 1 1 small\n1:\n");
}

} // namespace
} // namespace mqbridge::sim
