#include "host/report/printable.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

namespace mqbridge {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0; ///< 0: not UTF-8
};

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80)
    return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4)
    return {};
  std::uint32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text, i))
      return {};
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[length] || value > 0x10ffff || surrogate)
    return {};
  return {value, length};
}

bool drives_terminal(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7f && value <= 0x9f) || value == 0x200e || value == 0x200f ||
         value == 0x2028 || value == 0x2029 || (value >= 0x202a && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069) || value == 0xfeff;
}

/// Bytes of the first `columns` columns.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; columns > 0 && at < text.size(); --columns) {
    ++at;
    while (continues(text, at))
      ++at;
  }
  return at;
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.length == 0 || (point.length == 1 && drives_terminal(point.value)))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (drives_terminal(point.value))
      out += fmt::format("\\u{{{:04x}}}", point.value);
    else
      out += text.substr(0, point.length);
    text.remove_prefix(point.length == 0 ? 1 : point.length);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += printable(text.substr(begin, end - begin));
    if (end < text.size())
      out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string tsv_escaped(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t special = std::min(text.find_first_of("\t\n\r\\", begin), text.size());
    out += printable(text.substr(begin, special - begin));
    if (special < text.size())
      out += text[special] == '\t'   ? "\\t"
             : text[special] == '\n' ? "\\n"
             : text[special] == '\r' ? "\\r"
                                     : "\\\\";
    begin = special + 1;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    width += continues(text, i) ? 0 : 1;
  return width;
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width < 4)
    return std::string(text);
  return std::string(text.substr(0, bytes_of(text, width - 3))) + "...";
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t total = display_width(text);
  if (total <= width || width < 4)
    return std::string(text);
  return "..." + std::string(text.substr(bytes_of(text, total - (width - 3))));
}

} // namespace mqbridge
