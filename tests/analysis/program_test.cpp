#include "tests/analysis/generator.h"
#include "tests/analysis/program.h"

#include <gmock/gmock.h>

namespace mqbridge::sim {
namespace {

using testing::ElementsAre;

TEST(ProgramText, IsReadAsItWasWritten) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Program program = random_program(seed);
    EXPECT_EQ(parse_program(to_text(program)), program) << to_text(program);
  }
}

TEST(ProgramText, HasALineForEachRank) {
  const Program program = parse_program("ranks 2\n0: send W 1 5 large; recv E * * ;\n1:\n");
  EXPECT_EQ(to_text(program), "ranks 2\n0: send W 1 5 large; recv E * *\n1:\n");
}

class NoProgram : public testing::TestWithParam<const char*> {};

TEST_P(NoProgram, IsRefused) {
  EXPECT_THROW(parse_program(GetParam()), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, NoProgram,
                         testing::Values("", "ranks 0", "ranks 2\n2: barrier W", "ranks 1\n0: fly",
                                         "ranks 1\n0: barrier X", "ranks 1\n0: recv W 0",
                                         "ranks 1\n0: barrier W W", "ranks 1\n0: wait r32",
                                         "ranks 1\n0: send W 0 1 huge",
                                         "ranks 1\n0: bcast W x small"));

TEST(Members, AreInTheOrderOfTheirRanks) {
  EXPECT_THAT(members('W', 2, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(members('E', 2, 5), ElementsAre(4, 2, 0));
  EXPECT_THAT(members('E', 1, 5), ElementsAre(3, 1));
  EXPECT_THAT(members('H', 1, 5), ElementsAre(0, 1));
  EXPECT_THAT(members('H', 2, 5), ElementsAre(2, 3, 4));
}

} // namespace
} // namespace mqbridge::sim
