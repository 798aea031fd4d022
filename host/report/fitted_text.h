#pragma once

#include "rsp/packet/printable.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// printable() for text of several lines, such as a compiler's words: newlines stay.
std::string printable_lines(std::string_view text);

/// For a tab separated column: printable characters as above, and tab, newline, carriage return and
/// backslash as \t \n \r \\, so that the column can be read back.
std::string tsv_escaped(std::string_view text);

/// Columns that valid UTF-8 text takes on a terminal (one a code point).
std::size_t display_width(std::string_view text);

/// `text`, or its start before "..." where it is wider than `width` columns.
std::string clipped(std::string_view text, std::size_t width);

/// `text`, or its end after "..." where it is wider than `width` columns: the end of a path or of a
/// command tells more than its start.
std::string shortened(std::string_view text, std::size_t width);

/// Prose in lines of at most `width` columns, broken at blanks and where `text` has newlines. A
/// word that is longer has a line of its own.
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

/// The same for hints, which may hold a command to paste: broken only after punctuation and a blank
/// ("; ", ", ", ": ", ". "), so that a command stays whole, even where it is wider than `width`.
std::vector<std::string> wrap_clauses(std::string_view text, std::size_t width);

} // namespace mqbridge
