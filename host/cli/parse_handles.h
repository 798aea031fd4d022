#pragma once

#include "host/cli/commands.h"
#include "host/cli/raw_options.h"
#include "rsp/result.h"

namespace mqbridge {

/// All of `handles` but its targets and --collect. Errors: usage, usage.value.
Result<DumpCommand> parse_handles(const RawOptions& raw);

} // namespace mqbridge
