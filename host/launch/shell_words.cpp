#include "host/launch/shell_words.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace mqbridge {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/// Takes one word from the beginning of `text`, which is not blank there. False: a quote is open.
bool take_word(std::string_view& text, std::string& word) {
  char quote = 0;
  std::size_t at = 0;
  for (; at < text.size() && (quote != 0 || !is_blank(text[at])); ++at) {
    const char c = text[at];
    const bool escapes = c == '\\' && quote != '\'';
    if (escapes && at + 1 == text.size())
      return false;
    if (escapes)
      word += text[++at];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      word += c;
  }
  text.remove_prefix(at);
  return quote == 0;
}

} // namespace

Result<std::vector<std::string>> split_words(std::string_view option, std::string_view text) {
  std::vector<std::string> words;
  auto rest = text;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    if (rest.empty())
      return words;
    if (!take_word(rest, words.emplace_back()))
      return fail("usage.value", fmt::format("{} {}: a quote is not closed", option, text),
                  "write '...' or \"...\" around what has blanks");
  }
}

std::string join_words(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words)
    line += (line.empty() ? "" : " ") + quote_word(word);
  return line;
}

} // namespace mqbridge
