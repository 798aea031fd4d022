#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

#include <string_view>

namespace mqbridge {

/// The options about files, the debug DLL, stubs and nodes. `stub_silence`: the name of the option
/// with the longest silence of a stub. Errors: usage.value, config.*.
Result<DumpOptions> common_options(const RawOptions& raw,
                                   std::string_view stub_silence = "--timeout");

/// The options of a dump, without its targets and --collect; without `queues` those of `stacks`.
/// Errors: usage, usage.value, range.syntax, config.*.
Result<DumpCommand> parse_look(const RawOptions& raw, bool queues,
                               std::string_view stub_silence = "--timeout");

/// `show`, of the options that print. Errors: those of parse_look().
Result<Command> show_command(const RawOptions& raw);

} // namespace mqbridge
