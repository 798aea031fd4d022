#pragma once

#include <string>
#include <string_view>

namespace mqbridge {

/// Makes text from a target's memory, a stub or somebody else's DLL safe to show: the raw text
/// could drive the terminal, and it may be no UTF-8. Keeps valid, printable UTF-8; control
/// characters, bidirectional overrides, invisible characters and invalid bytes become \xNN or
/// \u{NNNN}, a backslash stays: nothing is lost.
std::string printable(std::string_view text);

/// The same with one '?' for each character or byte that cannot be shown: for names.
std::string readable(std::string_view text);

/// One word of a POSIX shell, whatever `text` holds; as it is, where it needs no quotes.
std::string quote_word(std::string_view text);

/// The same for a command line that is shown, and that a user may paste: somebody else may have
/// chosen the name of a file.
std::string pasteable(std::string_view text);

} // namespace mqbridge
