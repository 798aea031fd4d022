#pragma once

#include "host/cli/commands.h"
#include "host/cli/raw_options.h"
#include "rsp/result.h"

#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// `mqbridge run` in two: its own words, and behind "--" those of the command.
struct RunWords {
  std::vector<std::string> own;
  std::vector<std::string> command;
};

/// `arguments` from `run` on.
RunWords split_run(std::span<const char* const> arguments);

/// Errors: usage (no command, no limit), usage.value, and those of a dump's options.
Result<Command> run_command(const RawOptions& raw, std::vector<std::string> command);

} // namespace mqbridge
