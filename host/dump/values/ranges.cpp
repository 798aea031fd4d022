#include "host/dump/values/ranges.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace mqbridge {
namespace {

constexpr std::size_t max_listed_values = 1'048'576;

/// Distance to the next value; 0 where 64 bits cannot hold it (ranks come from a target: any
/// value).
std::int64_t distance(std::int64_t from, std::int64_t to) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(to, from, &result) ? 0 : result;
}

std::size_t run_length(std::span<const std::int64_t> values) {
  const std::int64_t step = values.size() < 2 ? 0 : distance(values[0], values[1]);
  if (step == 0)
    return 1;
  std::size_t length = 2;
  while (length < values.size() && distance(values[length - 1], values[length]) == step)
    ++length;
  const bool neighbours = step == 1 || step == -1;
  return length > 2 || neighbours ? length : 1;
}

std::string value_text(std::int64_t value) {
  return value == -1 ? "none" : fmt::format("{}", value);
}

std::string run_text(std::span<const std::int64_t> values) {
  const std::int64_t step = values.size() < 2 ? 1 : distance(values[0], values[1]);
  const bool has_none = values.front() == -1 || values.back() == -1;
  if (values.size() > 3 || (values.size() == 3 && step == 1 && !has_none)) {
    const std::string range =
        fmt::format("{}-{}", value_text(values.front()), value_text(values.back()));
    return step == 1 ? range : fmt::format("{}:{}", range, step);
  }
  std::string text;
  for (const std::int64_t value : values)
    text += fmt::format("{}{}", text.empty() ? "" : ",", value_text(value));
  return text;
}

std::optional<std::int64_t> parse_value(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

struct ParsedRun {
  std::int64_t first;
  std::int64_t last;
  std::int64_t step;
};

std::optional<ParsedRun> parse_run(std::string_view text) {
  std::optional<std::int64_t> step = 1;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    step = parse_value(text.substr(colon + 1));
    text = text.substr(0, colon);
    if (text.find('-') == std::string_view::npos)
      return std::nullopt;
  }
  const auto dash = text.find('-');
  const auto first = parse_value(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_value(text.substr(dash + 1));
  if (!first || !last || !step || *step == 0 || *last < *first)
    return std::nullopt;
  return ParsedRun{*first, *last, *step};
}

} // namespace

std::vector<Run> to_runs(std::span<const std::int64_t> values) {
  std::vector<Run> runs;
  while (!values.empty()) {
    const std::size_t length = run_length(values);
    const std::int64_t step = length == 1 ? 1 : distance(values[0], values[1]);
    runs.push_back({values.front(), values[length - 1], step});
    values = values.subspan(length);
  }
  return runs;
}

std::optional<std::uint64_t> value_count(const Run& run) {
  if (run.step == 0 || (run.step > 0 ? run.last < run.first : run.last > run.first))
    return std::nullopt;
  const auto unsigned_of = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const bool up = run.step > 0;
  const auto way = up ? unsigned_of(run.last) - unsigned_of(run.first)
                      : unsigned_of(run.first) - unsigned_of(run.last);
  const auto step = up ? unsigned_of(run.step) : 0 - unsigned_of(run.step);
  if (way % step != 0 || way / step == std::numeric_limits<std::uint64_t>::max())
    return std::nullopt;
  return way / step + 1;
}

std::vector<std::int64_t> values_of(std::span<const Run> runs) {
  std::vector<std::int64_t> values;
  for (const Run& run : runs) {
    const auto count = value_count(run).value_or(0);
    // A step may leave the signed range for a moment: unsigned numbers wrap around.
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(run.first) +
                                                 i * static_cast<std::uint64_t>(run.step)));
  }
  return values;
}

std::string range_text(std::span<const std::int64_t> values, std::size_t max_runs) {
  std::string text;
  for (std::size_t runs = 0; !values.empty(); ++runs) {
    if (runs == max_runs)
      return text + fmt::format(" and {} more", values.size());
    const std::size_t length = run_length(values);
    text += fmt::format("{}{}", text.empty() ? "" : ",", run_text(values.first(length)));
    values = values.subspan(length);
  }
  return text;
}

Result<std::vector<std::int64_t>> parse_ranges(std::string_view text) {
  std::vector<std::int64_t> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const auto run = parse_run(item);
    if (!run)
      return fail("range.syntax",
                  fmt::format("\"{}\" in \"{}\" is not a rank or a range", item, text),
                  "write ranks as 0-3,7,10-20:2");
    const auto count =
        static_cast<std::uint64_t>(run->last - run->first) / static_cast<std::uint64_t>(run->step) +
        1;
    if (count > max_listed_values - values.size())
      return fail("range.syntax",
                  fmt::format("\"{}\" names more than {} ranks", text, max_listed_values),
                  "name fewer ranks, or leave the option out for all of them");
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(run->first + static_cast<std::int64_t>(i) * run->step);
    begin = end + 1;
  }
  return values;
}

} // namespace mqbridge
