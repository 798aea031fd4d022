#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The part of a launcher's output that explains the end of one node: its last lines, printable,
/// one after the other. If `node` is one of several, lines that name it, or that begin with srun's
/// task number (`label`), come before all others.
std::string last_words(std::string_view said, std::string_view node, std::optional<int> label);

/// What to do about a collector that did not begin, by its output.
std::string hint_for(std::string_view words);

} // namespace mqbridge
