#pragma once

#include <string>
#include <string_view>

namespace mqbridge {

/// Text that a DLL or a target wrote, made fit to be shown and put into JSON: valid UTF-8 is kept;
/// control characters and stray bytes become \xNN, so that nothing is lost.
std::string printable(std::string_view text);

/// The same with a '?' for each byte that cannot be shown.
std::string readable(std::string_view text);

} // namespace mqbridge
