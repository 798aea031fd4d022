#pragma once

#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

struct CommandOutput {
  int exit_status = 0; ///< 128 + N if signal N ended it
  std::string text;    ///< stdout and stderr in the order they came, cut to the limit
  bool truncated = false;
};

/// Runs a program of this host to its end, without a shell: argv[0] is looked up in PATH, and stdin
/// is empty. The first `most_bytes` of its output are kept. It runs in a process group of its own,
/// which is killed when `limit` is over or `stop` is requested. Errors: command.start,
/// command.timeout, interrupted.
Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds limit,
                                  std::size_t most_bytes = std::size_t{256} << 10,
                                  const std::stop_token& stop = {});

} // namespace mqbridge
