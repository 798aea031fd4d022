#pragma once

#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// `first`, `first + step`, ... `last`: how the dump document writes rank lists (`runs` of the
/// schema). A single value is {v, v, 1}; step is never 0.
struct Run {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;

  auto operator<=>(const Run&) const = default;
};

/// The same values in the same order, duplicates included. Two values make a run only where they
/// are neighbours (4,5 or 5,4); any other step needs three.
std::vector<Run> to_runs(std::span<const std::int64_t> values);

/// How many values it stands for. nullopt: it never reaches its last one, or its step is 0.
std::optional<std::uint64_t> value_count(const Run& run);

/// The values of runs that make sense (value_count), one behind the other.
std::vector<std::int64_t> values_of(std::span<const Run> runs);

/// For people: "0-3,7,10-20:2", descending "9-0:-1", -1 (no such process) as "none". At most
/// `max_runs` runs are spelled out, then the number of values left: "0,2,5 and 40 more".
std::string range_text(std::span<const std::int64_t> values, std::size_t max_runs = 12);

/// The values of a list such as "0-3,7,10-20:2", in the order written. Values are 0 or greater, at
/// most 1,048,576 of them. Error: range.syntax.
Result<std::vector<std::int64_t>> parse_ranges(std::string_view text);

} // namespace mqbridge
