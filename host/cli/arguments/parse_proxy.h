#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge {

/// Errors: usage, usage.value, endpoint.syntax, and those of a dump's options; so below.
Result<Command> proxy_command(const RawOptions& raw);

/// `arguments`: those for gdb itself.
Result<Command> gdb_command(const RawOptions& raw, std::vector<std::string> arguments);

} // namespace mqbridge
