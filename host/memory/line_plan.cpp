#include "host/memory/line_plan.h"

#include <algorithm>
#include <bit>

namespace mqbridge {
namespace {

constexpr std::size_t lines_in_page = 64;
/// Known lines count if they are this close, even with gaps: fields that nobody reads.
constexpr std::uint64_t close_by = 0xffff;

std::size_t settled(std::uint64_t run, std::uint64_t close) {
  return std::max(static_cast<std::size_t>(run), static_cast<std::size_t>(std::popcount(close)));
}

/// The number of lines directly before line `first` that a walk along memory has read.
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

/// Lines below `line`.
std::uint64_t below(std::size_t line) {
  return line >= lines_in_page ? ~std::uint64_t{0} : (std::uint64_t{1} << line) - 1;
}

/// Plans a span for missing lines with no known line between them.
LineSpan plan_span(std::uint64_t missing, const KnownLines& known, std::size_t unit) {
  auto first = static_cast<std::size_t>(std::countr_zero(missing));
  auto last = lines_in_page - 1 - static_cast<std::size_t>(std::countl_zero(missing));
  const auto needed_first = first;
  const auto needed_last = last;
  const auto lower = known_below(known, first);
  const auto upper = known_above(known, last);
  if (upper > lower) {
    const auto count = std::max({upper, unit, last - first + 1});
    first = last + 1 - std::min(count, last + 1);
  } else {
    first -= first % unit; // fields before are needed as often as fields behind
    last = std::min(std::max(first + std::max(lower, unit) - 1, last), lines_in_page - 1);
  }
  // The span reaches up to the next known line on either side.
  for (auto line = needed_last + 1; line <= last; ++line)
    if ((known.here >> line & 1U) != 0)
      last = line - 1;
  for (auto line = needed_first; line > first; --line)
    if ((known.here >> (line - 1) & 1U) != 0)
      first = line;
  return {first, last - first + 1};
}

} // namespace

std::vector<LineSpan> plan_lines(std::uint64_t missing, KnownLines known, std::size_t unit) {
  std::vector<LineSpan> spans;
  while (missing != 0) {
    const auto first = static_cast<std::size_t>(std::countr_zero(missing));
    const auto behind = known.here & ~below(first);
    const auto next_known =
        behind != 0 ? static_cast<std::size_t>(std::countr_zero(behind)) : lines_in_page;
    const auto span = plan_span(missing & below(next_known), known, unit);
    const auto lines = below(span.first + span.count) & ~below(span.first);
    missing &= ~lines;
    known.here |= lines;
    spans.push_back(span);
  }
  return spans;
}

} // namespace mqbridge
