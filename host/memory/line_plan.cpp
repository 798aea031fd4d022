#include "host/memory/line_plan.h"

#include <algorithm>
#include <bit>

namespace mqbridge {
namespace {

constexpr std::size_t lines_in_page = 64;
/// Lines so close count, even if there are gaps: fields that nobody reads.
constexpr std::uint64_t close_by = 0xffff;

std::size_t settled(std::uint64_t run, std::uint64_t close) {
  return std::max(static_cast<std::size_t>(run), static_cast<std::size_t>(std::popcount(close)));
}

/// Of the 64 lines that end before line `first`: how many walks have come along.
std::size_t known_below(const KnownLines& known, std::size_t first) {
  const auto window =
      first == 0 ? known.before : known.here << (lines_in_page - first) | known.before >> first;
  return settled(static_cast<std::uint64_t>(std::countl_one(window)), window >> 48);
}

std::size_t known_above(const KnownLines& known, std::size_t last) {
  const auto next = last + 1;
  const auto window = next == lines_in_page
                          ? known.behind
                          : known.here >> next | known.behind << (lines_in_page - next);
  return settled(static_cast<std::uint64_t>(std::countr_one(window)), window & close_by);
}

} // namespace

LineSpan plan_lines(std::uint64_t missing, const KnownLines& known, std::size_t unit) {
  auto first = static_cast<std::size_t>(std::countr_zero(missing));
  auto last = lines_in_page - 1 - static_cast<std::size_t>(std::countl_zero(missing));
  const auto needed_first = first;
  const auto needed_last = last;
  const auto below = known_below(known, first);
  const auto above = known_above(known, last);
  if (above > below) {
    const auto count = std::max({above, unit, last - first + 1});
    first = last + 1 - std::min(count, last + 1);
  } else {
    first -= first % unit; // fields before are as likely to be asked for as those behind
    last = std::min(std::max(first + std::max(below, unit) - 1, last), lines_in_page - 1);
  }
  while (last > needed_last && (known.here >> last & 1U) != 0)
    --last;
  while (first < needed_first && (known.here >> first & 1U) != 0)
    ++first;
  return {first, last - first + 1};
}

} // namespace mqbridge
