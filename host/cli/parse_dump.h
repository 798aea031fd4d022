#pragma once

#include "host/cli/commands.h"
#include "host/cli/raw_options.h"
#include "rsp/result.h"

#include <string_view>

namespace mqbridge {

/// Those of files, of the debug DLL, of stubs and of nodes. `stub_silence`: the option that has the
/// longest silence of a stub. Errors: usage.value, config.*.
Result<DumpOptions> common_options(const RawOptions& raw,
                                   std::string_view stub_silence = "--timeout");

/// The options of a dump, but for its targets and --collect; without `queues` those of `stacks`.
/// Errors: usage, usage.value, range.syntax, config.*.
Result<DumpCommand> parse_look(const RawOptions& raw, bool queues,
                               std::string_view stub_silence = "--timeout");

} // namespace mqbridge
