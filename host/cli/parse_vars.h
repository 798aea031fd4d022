#pragma once

#include "host/cli/commands.h"
#include "host/cli/raw_options.h"
#include "rsp/result.h"

namespace mqbridge {

/// The options of `vars`, but for its targets and --collect. Errors: those of parse_look(), and
/// usage, usage.value.
Result<DumpCommand> parse_vars(const RawOptions& raw);

} // namespace mqbridge
