#pragma once

#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

struct CommandOutput {
  int exit_status = 0; ///< 128 + N if signal N ended it
  std::string text;    ///< stdout and stderr as they came, as much as was wanted
  bool truncated = false;
};

/// Runs a program of this host to its end, without a shell: argv[0] is looked up in PATH, stdin is
/// empty. Of what it says the first `most_bytes` are kept. It runs in a process group of its own,
/// which is killed when `limit` is over. Errors: command.start, command.timeout.
Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds limit,
                                  std::size_t most_bytes = std::size_t{256} << 10);

} // namespace mqbridge
