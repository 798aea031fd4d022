#include "rsp/packet/stat_line.h"

#include <charconv>
#include <system_error>

namespace mqbridge::rsp {
namespace {

constexpr int place_of_state = 3;

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

} // namespace

std::optional<StatLine> StatLine::parse(std::string_view text) {
  const auto begin = text.find('(');
  const auto end = text.rfind(") ");
  if (begin == text.npos || end == text.npos || end < begin)
    return std::nullopt;
  const auto words = text.substr(end + 2);
  if (words.empty() || !is_letter(words[0]) || (words.size() > 1 && words[1] != ' '))
    return std::nullopt;
  return StatLine(text.substr(begin + 1, end - begin - 1), words);
}

std::optional<std::uint64_t> StatLine::number(int place) const {
  std::string_view words = words_;
  for (int at = place_of_state; at < place; ++at) {
    const auto end_of_word = words.find(' ');
    if (end_of_word == words.npos)
      return std::nullopt;
    words.remove_prefix(end_of_word + 1);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  const bool whole = end == words.data() + words.size() || *end == ' ' || *end == '\n';
  return error == std::errc() && whole ? std::optional(number) : std::nullopt;
}

} // namespace mqbridge::rsp
