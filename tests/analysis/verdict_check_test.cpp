#include "tests/analysis/verdict_check.h"

#include <gmock/gmock.h>

namespace mqbridge::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Sight without_counters() {
  Sight sight;
  sight.omissions.counters = true;
  return sight;
}

Sight two_looks() {
  Sight sight;
  sight.looks = 2;
  return sight;
}

std::string fault(const char* program, const Analysis& analysis, const Sight& sight = {}) {
  return fault_of(analysis, *play(parse_program(program), sight, 1));
}

Analysis deadlock(std::vector<Run> core, std::vector<Run> blocked = {},
                  Confidence confidence = Confidence::likely) {
  Analysis analysis;
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = confidence;
  analysis.core = std::move(core);
  analysis.blocked = std::move(blocked);
  return analysis;
}

Analysis no_deadlock(Confidence confidence = Confidence::likely) {
  Analysis analysis;
  analysis.verdict = Verdict::no_deadlock;
  analysis.confidence = confidence;
  return analysis;
}

// Ranks 0 and 1 wait for each other, rank 2 for them.
constexpr const char* dead = "ranks 3\n0: recv W 1 1\n1: recv W 0 1\n2: recv W 0 1\n";
constexpr const char* alive = "ranks 2\n0: recv W 1 1\n1: forever\n";

TEST(VerdictCheck, PassesWhatIsRight) {
  EXPECT_EQ(fault(dead, deadlock({{0, 1, 1}}, {{2, 2, 1}})), "");
  EXPECT_EQ(fault(alive, no_deadlock()), "");
  EXPECT_EQ(fault(dead, deadlock({{0, 1, 1}}, {{2, 2, 1}}, Confidence::certain), two_looks()), "");
}

TEST(VerdictCheck, NoticesAFalseDeadlock) {
  EXPECT_THAT(fault(alive, deadlock({{0, 0, 1}})), StartsWith("FALSE DEADLOCK"));
  EXPECT_THAT(fault(alive, deadlock({{0, 0, 1}}), without_counters()),
              StartsWith("FALSE DEADLOCK"));
  EXPECT_EQ(fault(alive, deadlock({{0, 0, 1}}, {}, Confidence::possible), without_counters()), "");
}

TEST(VerdictCheck, NoticesADeadlockThatWasMissed) {
  EXPECT_THAT(fault(dead, no_deadlock()), HasSubstr("no deadlock"));
  EXPECT_THAT(fault(dead, Analysis()), StartsWith("MISSED"));
  EXPECT_EQ(fault(dead, Analysis(), without_counters()), "");
  EXPECT_THAT(fault(alive, Analysis()), HasSubstr("undecided"));
}

TEST(VerdictCheck, NoticesWrongRanks) {
  EXPECT_THAT(fault(dead, deadlock({{0, 1, 1}})), HasSubstr("dead are"));
  EXPECT_THAT(fault(dead, deadlock({{0, 2, 1}})), HasSubstr("core is"));
}

TEST(VerdictCheck, NoticesMoreConfidenceThanThereMayBe) {
  const auto certain = deadlock({{0, 1, 1}}, {{2, 2, 1}}, Confidence::certain);
  EXPECT_THAT(fault(dead, certain), HasSubstr("certain"));
  Sight blind = two_looks();
  blind.omissions.counters = true;
  EXPECT_THAT(fault(dead, certain, blind), HasSubstr("certain"));
}

} // namespace
} // namespace mqbridge::sim
