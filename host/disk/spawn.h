#pragma once

#include "rsp/result.h"

#include <csignal>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace mqbridge {

/// Descriptors of this process that become another program's own. -1: /dev/null.
struct StandardStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

/// A variable of a process's environment, and its value.
using EnvironmentVariable = std::pair<std::string, std::string>;

/// Starts a program of this host, without a shell: argv[0] is looked up in PATH. It leads a process
/// group of its own, so that a terminal's Ctrl-C does not reach it, and has no descriptors of ours
/// except `streams`; all signals have their default action. The caller reaps it. Error:
/// command.start.
Result<pid_t> spawn(const std::vector<std::string>& argv, const StandardStreams& streams);

/// Starts a program as if it took the place of this process: it has our process group, terminal and
/// descriptors (except those that are closed on exec), and ignores the signals that we ignore. -1
/// in `streams`: ours. `mask`: the signals that are blocked in it. `variables` replace those of our
/// environment with the same names. The caller reaps it. Errors: command.not_found, command.start.
Result<pid_t> spawn_in_place(const std::vector<std::string>& argv, const StandardStreams& streams,
                             const sigset_t& mask,
                             std::span<const EnvironmentVariable> variables = {});

} // namespace mqbridge
