#include "host/report/wrap.h"

#include "host/report/printable.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

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

std::vector<std::string> wrap_words(std::string_view text, std::size_t width) {
  return wrap(text, width, at_any_blank);
}

std::vector<std::string> wrap_clauses(std::string_view text, std::size_t width) {
  return wrap(text, width, after_punctuation);
}

} // namespace mqbridge
