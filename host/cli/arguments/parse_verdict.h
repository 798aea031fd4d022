#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

#include <optional>
#include <string_view>

namespace mqbridge {

/// --analyze, --no-analyze, --twice and --fail-on. There is a second look if --twice asks for one,
/// or if a verdict is wanted and --twice does not forbid it. Errors: usage, usage.value.
Result<VerdictChoice> parse_verdict(const RawOptions& raw);

/// "deadlock", "deadlock:certain", "stuck". Error: usage.value.
Result<FailOn> parse_fail_on(std::string_view option, std::string_view text);

/// `mqbridge analyze`.
Result<Command> analyze_command(const RawOptions& raw);

} // namespace mqbridge
