#pragma once

#include <cstdint>
#include <map>
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
  std::uint64_t cpu = 0;     ///< clock ticks that it has run for
  std::string name;          ///< of the program, cut to 15 bytes

  auto identity() const { return std::pair(pid, started); }
};

/// By their parents.
using ProcessTable = std::multimap<pid_t, JobProcess>;

/// All that run on this host. Zombies do not count.
ProcessTable all_processes();

/// The processes that descend from `root`, a parent before its children; `root` itself comes first,
/// if it lives. Nor does a guardian of mqbridge count: it ends by itself, and releases the targets
/// that it watches.
std::vector<JobProcess> process_tree(pid_t root, const ProcessTable& all = all_processes());

/// Processes that are not of a job, although they descend from the same parent.
using KnownProcesses = std::set<std::pair<pid_t, std::uint64_t>>;

/// The descendants of this process, without `strangers` and their descendants.
std::vector<JobProcess> own_descendants(const KnownProcesses& strangers);

/// Sends a signal to this very process, and not to another one that has got its number since.
void send_signal(const JobProcess& process, int signal);

} // namespace mqbridge
