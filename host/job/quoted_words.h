#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace mqbridge {

/// A word of a line, without its quotes.
struct QuotedWord {
  std::string text;
  std::size_t column = 1; ///< of its first character in the line
};

/// A fault at one place of a line.
struct LineFault {
  std::size_t column = 1;
  std::string what;
  std::string mend; ///< what to write there
};

/// The words of a line, as docs/reference/targets-file.md describes them: blanks or tabs stand
/// between them, a # where a word would begin starts a comment, and blanks in double quotes belong
/// to the word. In quotes \" is a quote and \\ a backslash.
tl::expected<std::vector<QuotedWord>, LineFault> split_target_line(std::string_view line);

/// Whether no line of a text can hold it: a control character other than a tab.
bool is_control(char c);

/// `text` as one word of a line, in quotes only where it needs them. Control characters stay: a
/// line cannot hold them.
std::string quote_in_line(std::string_view text);

/// The character of `text` that begins at byte `offset`, counted from 1, as editors do.
std::size_t column_at(std::string_view text, std::size_t offset);

} // namespace mqbridge
