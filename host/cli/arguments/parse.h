#pragma once

#include "host/cli/arguments/commands.h"
#include "rsp/result.h"

#include <span>
#include <string_view>

namespace mqbridge {

/// Reads the command line, and the file of --config. Touches nothing else. Errors are wrong usage:
/// usage.* and those of the option's own parser (target.syntax, endpoint.syntax, range.syntax,
/// config.*).
Result<Command> parse_command_line(std::span<const char* const> arguments,
                                   std::string_view version);

/// What stands on stderr if `mqbridge` is called without arguments.
std::string_view short_usage();

} // namespace mqbridge
