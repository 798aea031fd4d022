#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

namespace mqbridge {

/// The command `handles` with its options.
void declare_handles(CLI::App& app, RawOptions& raw);

/// All of `handles`, except its targets and --collect. Errors: usage, usage.value.
Result<DumpCommand> parse_handles(const RawOptions& raw);

} // namespace mqbridge
