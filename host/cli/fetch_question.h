#pragma once

#include "host/files/fetch_options.h"

#include <functional>
#include <stop_token>

namespace mqbridge {

/// Asks on the terminal whether files are to be read from a target. No answer within half a minute
/// is a no: a target is held meanwhile. Null where stdin and stderr are not a terminal that this
/// process is in the foreground of: reading there would stop it.
std::function<bool(const FetchQuestion&)> ask_on_terminal(std::stop_token stop);

} // namespace mqbridge
