#include "host/mqs/text_lines.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace mqbridge {
namespace {

// No line has either of these characters.
constexpr char line_end = '\0';
constexpr char address_mark = '\1';

constexpr std::string_view prefix = "0x";

/// Takes the first address out of `pattern`, if one is written as fmt writes it: without leading
/// zeros, in small letters.
std::uint64_t take_address(std::string& pattern) {
  const auto at = pattern.find(prefix);
  if (at == std::string::npos || pattern.find(address_mark) != std::string::npos)
    return 0;
  const char* const digits = pattern.data() + at + prefix.size();
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(digits, pattern.data() + pattern.size(), address, 16);
  const auto length = static_cast<std::size_t>(end - digits);
  if (error != std::errc() || fmt::format("{:x}", address) != std::string_view(digits, length))
    return 0;
  pattern.replace(at, prefix.size() + length, 1, address_mark);
  return address;
}

} // namespace

TextLines::TextLines(std::span<const std::string> lines, TextPool& pool) {
  constexpr std::size_t most = std::numeric_limits<std::uint8_t>::max();
  said_ = shown_ = static_cast<std::uint8_t>(std::min(lines.size(), most));
  if (lines.empty())
    return;
  std::string pattern;
  for (const std::string& line : lines.first(said_))
    (pattern += line) += line_end;
  address_ = take_address(pattern);
  pattern_ = pool.share(pattern);
}

TextLines::TextLines(std::initializer_list<std::string> lines) {
  TextPool own;
  *this = TextLines(std::span(lines.begin(), lines.size()), own);
}

std::string TextLines::operator[](std::size_t index) const {
  auto line = begin();
  for (; index > 0; --index)
    ++line;
  return *line;
}

void TextLines::show_only(std::size_t count) {
  shown_ = static_cast<std::uint8_t>(std::min<std::size_t>(count, said_));
}

TextLines TextLines::all() const {
  TextLines whole = *this;
  whole.shown_ = said_;
  return whole;
}

std::string TextLines::Iterator::operator*() const {
  std::string line(rest_.substr(0, rest_.find(line_end)));
  if (const auto at = line.find(address_mark); at != std::string::npos)
    line.replace(at, 1, fmt::format("{:#x}", lines_->address_));
  return line;
}

TextLines::Iterator& TextLines::Iterator::operator++() {
  rest_.remove_prefix(std::min(rest_.size(), rest_.find(line_end) + 1));
  ++index_;
  return *this;
}

} // namespace mqbridge
