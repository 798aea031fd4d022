#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Prose in lines of at most `width` columns, broken at blanks and where `text` has newlines. A
/// word that is longer has a line of its own.
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

/// The same for hints, which may hold a command to paste: broken only after punctuation and a blank
/// ("; ", ", ", ": ", ". "), so that a command stays whole, even where it is wider than `width`.
std::vector<std::string> wrap_clauses(std::string_view text, std::size_t width);

} // namespace mqbridge
