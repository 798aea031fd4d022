#pragma once

#include "host/files/fetch_options.h"

#include <functional>
#include <stop_token>

namespace mqbridge {

/// Asks on the terminal whether files are to be read from a target. No answer within half a minute
/// counts as no: a target is held meanwhile. Null unless stdin and stderr are a terminal with this
/// process in the foreground: otherwise reading would stop the process.
std::function<bool(const FetchQuestion&)> ask_on_terminal(std::stop_token stop);

} // namespace mqbridge
