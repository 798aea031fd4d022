#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// The numbers of a process's threads, by qXfer:osdata:read:threads; among them is that of a main
/// thread that has ended. Empty if there is no such process, or the stub does not have it.
Result<std::vector<std::int64_t>> read_thread_numbers(Client& client, std::int64_t pid);

/// Names of the environment variables in which launchers tell a process its rank; the first that is
/// there counts.
using RankVariables = std::span<const std::string_view>;

/// For a server that has no process yet: its processes, on at most about twenty lines. Those with
/// one of `rank_variables` come first and are named with their rank. Empty if the server cannot
/// list them. Looks into /proc/PID/environ of a bounded number of processes, for a bounded time.
std::string describe_processes(Client& client, RankVariables rank_variables);

} // namespace mqbridge::rsp
