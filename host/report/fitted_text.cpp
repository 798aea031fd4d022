#include "host/report/fitted_text.h"

#include <algorithm>
#include <utility>

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

using MayBreak = bool (*)(std::string_view text, std::size_t blank);

bool at_any_blank(std::string_view, std::size_t) {
  return true;
}

bool after_punctuation(std::string_view text, std::size_t blank) {
  return blank > 0 && std::string_view(";,:.").find(text[blank - 1]) != std::string_view::npos;
}

void wrap_line(std::string_view line, std::size_t width, MayBreak may_break,
               std::vector<std::string>& out) {
  std::string current;
  for (std::size_t begin = 0; begin <= line.size();) {
    std::size_t end = line.find(' ', begin);
    while (end != std::string_view::npos && !may_break(line, end))
      end = line.find(' ', end + 1);
    const std::string_view piece = line.substr(begin, end - begin);
    const std::size_t joined = display_width(current) + 1 + display_width(piece);
    if (!current.empty() && joined > width)
      out.push_back(std::exchange(current, {}));
    current += current.empty() ? "" : " ";
    current += piece;
    if (end == std::string_view::npos)
      break;
    begin = end + 1;
  }
  out.push_back(current);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, MayBreak may_break) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.empty())
      wrap_line(line, width, may_break, out);
    begin = end + 1;
  }
  return out;
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

std::vector<std::string> wrap_words(std::string_view text, std::size_t width) {
  return wrap(text, width, at_any_blank);
}

std::vector<std::string> wrap_clauses(std::string_view text, std::size_t width) {
  return wrap(text, width, after_punctuation);
}

} // namespace mqbridge
