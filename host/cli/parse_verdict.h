#pragma once

#include "host/cli/commands.h"
#include "host/cli/raw_options.h"
#include "rsp/result.h"

#include <optional>
#include <string_view>

namespace mqbridge {

/// --analyze, --no-analyze, --twice and --fail-on. A second look is taken where --twice asks for
/// it, and where a verdict was asked for that --twice does not keep from it. Errors: usage,
/// usage.value.
Result<VerdictChoice> parse_verdict(const RawOptions& raw);

/// "deadlock", "deadlock:certain": how sure at least. Error: usage.value.
Result<Confidence> parse_fail_on(std::string_view option, std::string_view text);

/// `mqbridge analyze`.
Result<Command> analyze_command(const RawOptions& raw);

} // namespace mqbridge
