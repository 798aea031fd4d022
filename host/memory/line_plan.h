#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge {

/// Lines of one page, `count` from `first` on.
struct LineSpan {
  std::size_t first = 0;
  std::size_t count = 0;
  bool operator==(const LineSpan&) const = default;
};

/// Which lines of the pages around are known: a bit each, the first line of a page lowest.
struct KnownLines {
  std::uint64_t before = 0; ///< of the page before
  std::uint64_t here = 0;
  std::uint64_t behind = 0;
};

/// What to read where `missing` lines (at least one, none known) are needed on a slow link: around
/// each at least the `unit` lines (a power of two) that it lies in, and as many as are known close
/// by on one side, towards the other: where a walk goes along memory, up or down, what is read
/// doubles. Nothing that is known is read again.
std::vector<LineSpan> plan_lines(std::uint64_t missing, KnownLines known, std::size_t unit);

} // namespace mqbridge
