#include "host/stacks/python/line_table.h"

namespace mqbridge {
namespace {

// What an entry's first byte says, in its bits 3 to 6. Smaller numbers are entries of the line that
// was before.
constexpr unsigned one_line_later = 11;
constexpr unsigned two_lines_later = 12;
constexpr unsigned without_columns = 13;
constexpr unsigned with_all = 14;
constexpr unsigned without_line = 15;

/// Bit 7 is set in the first byte of each entry, and in no other byte.
bool begins_entry(std::byte byte) {
  return std::to_integer<unsigned>(byte) >= 0x80;
}

/// A signed number from the beginning of `bytes`: 6 bits in each byte, the lowest first, and of the
/// whole the sign in the lowest one. Ends where an entry begins.
std::int64_t signed_number(std::span<const std::byte> bytes) {
  constexpr unsigned most_bits = 36; // a line has 31
  std::uint64_t number = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    if (begins_entry(byte) || bits >= most_bits)
      break;
    number |= std::uint64_t{std::to_integer<unsigned>(byte) & 0x3f} << bits;
    bits += 6;
    if ((std::to_integer<unsigned>(byte) & 0x40) == 0)
      break;
  }
  const auto value = static_cast<std::int64_t>(number >> 1);
  return (number & 1) != 0 ? -value : value;
}

std::int64_t lines_later(unsigned kind, std::span<const std::byte> rest) {
  switch (kind) {
  case one_line_later:
    return 1;
  case two_lines_later:
    return 2;
  case without_columns:
  case with_all:
    return signed_number(rest);
  default:
    return 0;
  }
}

std::optional<std::int64_t> at_least_one(std::int64_t line) {
  return line < 1 ? std::nullopt : std::optional(line);
}

/// Of each entry the first byte is a number of bytes of code, the second one a signed number of
/// lines.
std::optional<std::int64_t> line_by_pairs(std::span<const std::byte> table, std::int64_t line,
                                          std::uint64_t offset) {
  std::uint64_t begin = 0; // of the code that the entry is about
  for (; table.size() >= 2; table = table.subspan(2)) {
    begin += std::to_integer<std::uint64_t>(table[0]);
    if (begin > offset)
      break;
    line += static_cast<std::int8_t>(table[1]);
  }
  return at_least_one(line);
}

std::optional<std::int64_t> line_by_ranges(std::span<const std::byte> table, std::int64_t line,
                                           std::uint64_t offset) {
  constexpr std::int8_t none = -128;
  std::uint64_t end = 0; // of the code that the entries so far are about
  for (; table.size() >= 2; table = table.subspan(2)) {
    const auto later = static_cast<std::int8_t>(table[1]);
    line += later == none ? 0 : later;
    end += std::to_integer<std::uint64_t>(table[0]);
    if (offset < end)
      return later == none ? std::nullopt : at_least_one(line);
  }
  return std::nullopt;
}

std::optional<std::int64_t> line_by_locations(std::span<const std::byte> table,
                                              std::int64_t first_line, std::uint64_t instruction) {
  std::int64_t line = first_line;
  std::uint64_t end = 0; // of the instructions that the entries so far are about
  while (!table.empty()) {
    if (!begins_entry(table.front()))
      return std::nullopt;
    const auto first = std::to_integer<unsigned>(table.front());
    const unsigned kind = first >> 3 & 15;
    table = table.subspan(1);
    line += lines_later(kind, table);
    end += (first & 7) + 1;
    if (instruction < end)
      return kind == without_line ? std::nullopt : at_least_one(line);
    while (!table.empty() && !begins_entry(table.front()))
      table = table.subspan(1);
  }
  return std::nullopt;
}

} // namespace

std::optional<std::int64_t> line_of_instruction(LineTable kind, std::span<const std::byte> table,
                                                std::int64_t first_line,
                                                std::uint64_t instruction) {
  switch (kind) {
  case LineTable::pairs:
    return line_by_pairs(table, first_line, 2 * instruction);
  case LineTable::ranges:
    return line_by_ranges(table, first_line, 2 * instruction);
  case LineTable::locations:
    break;
  }
  return line_by_locations(table, first_line, instruction);
}

} // namespace mqbridge
