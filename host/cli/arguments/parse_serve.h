#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

namespace mqbridge {

/// Errors: usage, usage.value, endpoint.syntax; so below.
Result<Command> serve_command(const RawOptions& raw);
Result<Command> jobs_command(const RawOptions& raw);
/// `dump --service`.
Result<Command> service_look_command(const RawOptions& raw);

} // namespace mqbridge
