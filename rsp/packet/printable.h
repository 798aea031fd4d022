#pragma once

#include <string>
#include <string_view>

namespace mqbridge {

/// Makes text from a target's memory, a stub or somebody else's DLL safe to show: the raw text
/// could drive the terminal, and it may be no UTF-8. Keeps valid, printable UTF-8; control
/// characters, bidirectional overrides and invalid bytes become \xNN or \u{NNNN}, a backslash
/// stays: nothing is lost.
std::string printable(std::string_view text);

/// The same with one '?' for each character or byte that cannot be shown: for names.
std::string readable(std::string_view text);

} // namespace mqbridge
