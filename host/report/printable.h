#pragma once

#include "rsp/packet/printable.h"

#include <cstddef>
#include <string>
#include <string_view>

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

} // namespace mqbridge
