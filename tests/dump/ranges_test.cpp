#include "host/dump/values/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace mqbridge {
namespace {

using Values = std::vector<std::int64_t>;
constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();

struct Case {
  Values values;
  std::vector<Run> runs;
  std::string text;
};

const std::vector<Case> cases = {
    {{}, {}, ""},
    {{7}, {{7, 7, 1}}, "7"},
    {{4, 5}, {{4, 5, 1}}, "4,5"},
    {{5, 4}, {{5, 4, -1}}, "5,4"},
    {{0, 5}, {{0, 0, 1}, {5, 5, 1}}, "0,5"},
    {{0, 1, 2}, {{0, 2, 1}}, "0-2"},
    {{2, 1, 0}, {{2, 0, -1}}, "2,1,0"},
    {{9, 8, 7, 6}, {{9, 6, -1}}, "9-6:-1"},
    {{0, 2, 4, 6, 511}, {{0, 6, 2}, {511, 511, 1}}, "0-6:2,511"},
    {{0, 5, 6, 7}, {{0, 0, 1}, {5, 7, 1}}, "0,5-7"},
    {{3, 3, 3}, {{3, 3, 1}, {3, 3, 1}, {3, 3, 1}}, "3,3,3"},
    {{-1, -1}, {{-1, -1, 1}, {-1, -1, 1}}, "none,none"},
    {{least, greatest}, // neighbours modulo 2^64 only
     {{least, least, 1}, {greatest, greatest, 1}},
     "-9223372036854775808,9223372036854775807"},
};

Values expand(const std::vector<Run>& runs) {
  Values values;
  for (const Run& run : runs)
    for (std::int64_t v = run.first;; v += run.step) {
      values.push_back(v);
      if (v == run.last)
        break;
    }
  return values;
}

TEST(Ranges, RunsKeepOrderAndDuplicates) {
  for (const Case& c : cases) {
    EXPECT_EQ(to_runs(c.values), c.runs) << testing::PrintToString(c.values);
    EXPECT_EQ(expand(to_runs(c.values)), c.values);
  }
}

TEST(Ranges, TextForPeople) {
  for (const Case& c : cases)
    EXPECT_EQ(range_text(c.values), c.text);
}

TEST(Ranges, LongListsAreCutWithACount) {
  Values squares;
  for (std::int64_t i = 0; i < 20; ++i)
    squares.push_back(i * i * i);
  EXPECT_EQ(range_text(squares, 3), "0,1,8,27 and 16 more");
}

TEST(Ranges, AMillionRanksAreOneRun) {
  Values values(1'000'000);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(to_runs(values), (std::vector<mqbridge::Run>{{0, 999'999, 1}}));
}

TEST(Ranges, ParseReadsWhatTextWrites) {
  for (const Values& values :
       {Values{7}, Values{0, 1, 2, 3}, Values{0, 2, 4, 6, 511}, Values{9, 3, 4, 5}}) {
    const auto parsed = parse_ranges(range_text(values));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, values);
  }
}

TEST(Ranges, ParseRefusesWhatIsNoList) {
  for (const char* text : {"", ",", "1,", "a", "1-", "-1", "3-1", "0-4:0", "4:2", "1-2-3", "0x10",
                           " 1", "0-9223372036854775807", "99999999999999999999", "0-2000000"}) {
    const auto parsed = parse_ranges(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, "range.syntax");
    EXPECT_FALSE(parsed.error().hint.empty());
  }
}

} // namespace
} // namespace mqbridge
