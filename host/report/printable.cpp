#include "host/report/printable.h"

#include <algorithm>

namespace mqbridge {
namespace {

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
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
