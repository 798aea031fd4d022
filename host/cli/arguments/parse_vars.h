#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

namespace mqbridge {

/// The command `vars` with its options.
void declare_vars(CLI::App& app, RawOptions& raw);

/// The options of `vars`, but for its targets and --collect. Errors: those of parse_look(), and
/// usage, usage.value.
Result<DumpCommand> parse_vars(const RawOptions& raw);

} // namespace mqbridge
