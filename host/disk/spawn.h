#pragma once

#include "rsp/result.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge {

/// Descriptors of this process that become another program's own. -1: /dev/null.
struct StandardStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

/// Starts a program of this host, without a shell: argv[0] is looked up in PATH. It leads a process
/// group of its own, so that a terminal's Ctrl-C does not reach it, and has no descriptors of ours
/// but `streams`; signals do what they do by default. Whoever starts it reaps it. Error:
/// command.start.
Result<pid_t> spawn(const std::vector<std::string>& argv, const StandardStreams& streams);

} // namespace mqbridge
