#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// Messages that say the same of several things: of files, threads, processes or requests. They
// differ only in names: in paths, endpoints, addresses and build-ids, and in the numbers of ranks,
// threads and processes. Other numbers, and all other words, tell messages apart.

/// The text with a mark in the place of each name: alike texts have the same frame.
std::string frame_of(std::string_view text);

/// "37 alike: libc.so.6, libm.so.6, libz.so.1 and 34 more", of two or more alike texts. The names
/// are those that differ most. Fit to be shown.
std::string alike_line(const std::vector<std::string_view>& texts);

} // namespace mqbridge
