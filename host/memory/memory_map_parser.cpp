#include "host/memory/memory_map_parser.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

/// Removes the front of `text` up to `separator` and returns it; nullopt if there is none.
std::optional<std::string_view> cut(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto head = text.substr(0, at);
  text.remove_prefix(at + 1);
  return head;
}

std::optional<std::uint64_t> address(std::optional<std::string_view> digits) {
  std::uint64_t value = 0;
  if (!digits || digits->empty())
    return std::nullopt;
  const auto [end, error] =
      std::from_chars(digits->data(), digits->data() + digits->size(), value, 16);
  return error == std::errc() && end == digits->data() + digits->size() ? std::optional(value)
                                                                        : std::nullopt;
}

/// Pages that the kernel shows, and lets no debugger read.
bool is_kernels_own(std::string_view name) {
  return name.starts_with("[vvar") || name == "[vsyscall]";
}

struct Line {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string_view rights;
  std::string_view inode; ///< decimal digits
  std::string_view name;
};

/// "FIRST-BEHIND rwxp OFFSET DEVICE INODE   NAME"; the name, which may have blanks, may be missing.
std::optional<Line> parse_line(std::string_view line) {
  const auto first = address(cut(line, '-'));
  const auto behind = address(cut(line, ' '));
  const auto rights = cut(line, ' ');
  const auto offset = address(cut(line, ' '));
  const auto device = cut(line, ' ');
  if (!first || !behind || *first >= *behind || !rights || rights->size() != 4 || !offset ||
      !device || line.empty())
    return std::nullopt;
  const auto inode_end = line.find(' ');
  const auto name = inode_end == line.npos ? line.npos : line.find_first_not_of(' ', inode_end);
  return Line{*first, *behind - 1, *rights, line.substr(0, inode_end),
              name == line.npos ? std::string_view() : line.substr(name)};
}

MappedRange range_of(const Line& line) {
  MappedRange range{{line.first}, {line.last}};
  range.readable = line.rights[0] == 'r' && !is_kernels_own(line.name);
  range.writable = line.rights[1] == 'w';
  range.name = line.name;
  return range;
}

MappedFile file_of(const Line& line) {
  constexpr std::string_view deleted = " (deleted)"; // the kernel's mark; also of a name like that
  const bool is_deleted = line.name.ends_with(deleted);
  MappedFile file{.first = {line.first},
                  .last = {line.last},
                  .path = std::string(
                      line.name.substr(0, line.name.size() - (is_deleted ? deleted.size() : 0))),
                  .is_deleted = is_deleted,
                  .is_ambiguous = line.name.find("\\012") != line.name.npos};
  std::from_chars(line.inode.data(), line.inode.data() + line.inode.size(), file.inode);
  return file;
}

} // namespace

Result<MemoryMap> parse_memory_map(std::string_view text, bool whole, const Platform& platform) {
  MemoryMap map;
  while (const auto line = cut(text, '\n')) {
    const auto parsed = parse_line(*line);
    const bool in_order = parsed && parsed->last <= platform.last_address() &&
                          (map.ranges.empty() || map.ranges.back().last.value < parsed->first);
    if (!in_order) {
      constexpr std::size_t shown = 80;
      return fail("target.maps",
                  fmt::format("'{}' is no line of a list of mappings, or out of order",
                              line->substr(0, shown)),
                  "look at what the stub says with --trace FILE");
    }
    map.ranges.push_back(range_of(*parsed));
  }
  map.complete = whole && text.empty() && !map.ranges.empty();
  return map;
}

std::optional<MappedFile> find_mapped_file(std::string_view text, TargetAddress address) {
  while (const auto line = cut(text, '\n')) {
    const auto parsed = parse_line(*line);
    if (parsed && parsed->first <= address.value && address.value <= parsed->last)
      return parsed->name.starts_with('/') ? std::optional(file_of(*parsed)) : std::nullopt;
  }
  return std::nullopt;
}

MemoryMap map_of_ranges(std::vector<MappedRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  MemoryMap map;
  for (auto& range : ranges) {
    if (range.last < range.first)
      continue;
    if (!map.ranges.empty() && range.first <= map.ranges.back().last) {
      if (range.last <= map.ranges.back().last)
        continue;
      range.first = map.ranges.back().last + 1;
    }
    map.ranges.push_back(std::move(range));
  }
  return map;
}

} // namespace mqbridge
