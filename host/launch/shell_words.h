#pragma once

#include "rsp/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The words of a command line as a shell would split it, but nothing is ever expanded: blanks
/// separate, '...', "..." and \ quote. Error: usage.value (an open quote), naming `option`.
Result<std::vector<std::string>> split_words(std::string_view option, std::string_view text);

/// All of them as one line for a shell, each quoted where it must be.
std::string join_words(const std::vector<std::string>& words);

} // namespace mqbridge
