#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace mqbridge {

/// A process as /proc/PID/stat shows it.
struct JobProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t started = 0; ///< clock ticks since boot: tells it from another one of its number
  std::string name;          ///< of the program, cut to 15 bytes

  auto identity() const { return std::pair(pid, started); }
};

/// The processes that descend from `root`, a parent before its children; `root` itself first, where
/// it lives. Zombies are none, and a guardian of mqbridge is none: it ends by itself, and lets go
/// what it watches.
std::vector<JobProcess> process_tree(pid_t root);

/// Processes that are not of a job, although they descend from the same parent.
using KnownProcesses = std::set<std::pair<pid_t, std::uint64_t>>;

/// The descendants of this process but for `strangers` and what descends from them.
std::vector<JobProcess> own_descendants(const KnownProcesses& strangers);

/// Sends it to this very process, and to no other one that has got its number since.
void send_signal(const JobProcess& process, int signal);

} // namespace mqbridge
