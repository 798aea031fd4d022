#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Of what a launcher and its programs have said, what explains the end of one node: its last
/// lines, printable, one after the other. Where `node` is one of several, lines that name it or
/// have srun's number of its task in front (`label`) go before all others.
std::string last_words(std::string_view said, std::string_view node, std::optional<int> label);

/// What to do about a collector that did not begin, by what was said.
std::string hint_for(std::string_view words);

} // namespace mqbridge
