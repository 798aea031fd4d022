#include "host/memory/line_plan.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t line(std::size_t number) {
  return std::uint64_t{1} << number;
}

constexpr std::uint64_t all = ~std::uint64_t{0};

struct Case {
  const char* why;
  std::uint64_t missing;
  KnownLines known;
  std::size_t unit;
  std::vector<LineSpan> expected;
};

TEST(LinePlan, Table) {
  const Case cases[] = {
      {"alone", line(5), {}, 1, {{5, 1}}},
      {"the unit around it", line(5), {}, 4, {{4, 4}}},
      {"the last unit", line(62), {}, 4, {{60, 4}}},
      {"what is known of a unit is not read again", line(6), {0, line(4), 0}, 4, {{5, 3}}},
      {"the last line", line(63), {}, 1, {{63, 1}}},
      {"all that is missing, and what lies between", line(5) | line(9), {}, 2, {{4, 6}}},
      {"as much ahead as was read before", line(8), {0, 0xf0, 0}, 1, {{8, 4}}},
      {"gaps close by do not matter", line(8), {0, 0b01010100, 0}, 1, {{8, 3}}},
      {"what is known at its end is not read again", line(8), {0, 0xf0 | line(11), 0}, 1, {{8, 3}}},
      {"nor what lies behind it", line(8), {0, 0xf0 | line(10), 0}, 1, {{8, 2}}},
      {"from one page to the next", line(0), {all << 60, 0, 0}, 1, {{0, 4}}},
      {"all of it behind a page that is known", line(0), {all, 0, 0}, 1, {{0, 64}}},
      {"downwards", line(8), {0, 0xf00 << 1, 0}, 1, {{5, 4}}},
      {"downwards from the page behind", line(63), {0, 0, 0xf}, 1, {{60, 4}}},
      {"downwards to the start of the page", line(1), {0, all << 2, 0}, 1, {{0, 2}}},
      {"two pieces around what is known", line(2) | line(9), {0, line(5), 0}, 1, {{2, 1}, {9, 2}}},
      {"a whole page", all, {}, 1, {{0, 64}}},
  };
  for (const auto& each : cases)
    EXPECT_EQ(plan_lines(each.missing, each.known, each.unit), each.expected) << each.why;
}

} // namespace
} // namespace mqbridge
