#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge::rsp {

/// One process of the machine that the stub runs on.
struct ProcessInfo {
  std::int64_t pid = 0;
  std::string user;
  std::string command;
};

/// qXfer:osdata:read:processes. Empty if the stub does not have it.
Result<std::vector<ProcessInfo>> read_processes(Client& client);

/// For a server that has no process yet: its processes, those that an MPI launcher started first
/// and named with their rank, on at most about twenty lines. Empty if the server cannot list them.
/// Looks into /proc/PID/environ of a bounded number of processes, for a bounded time.
std::string describe_processes(Client& client);

} // namespace mqbridge::rsp
