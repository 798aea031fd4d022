#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/arguments/raw_options.h"
#include "rsp/result.h"

#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// The words of `mqbridge run` in two parts: its own, and behind "--" those of the command.
struct RunWords {
  std::vector<std::string> own;
  std::vector<std::string> command;
};

/// `arguments` from `run` on.
RunWords split_run(std::span<const char* const> arguments);

/// Errors: usage (no command, no limit), usage.value, and those of a dump's options.
Result<Command> run_command(const RawOptions& raw, std::vector<std::string> command);

} // namespace mqbridge
