#pragma once

#include "host/job/job_search.h"
#include "host/job/node_files.h"
#include "host/mpi/launch_environment.h"
#include "host/mpi/launcher_programs.h"
#include "host/mpi/mpi_support.h"
#include "rsp/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

struct LauncherProcess {
  std::int64_t pid = 0;
  std::string program; ///< as the kernel keeps it
  LauncherRole role = LauncherRole::none;
};

/// A process whose environment has a rank.
struct ScannedRank {
  std::int64_t pid = 0;
  std::string user;                       ///< empty: not known
  std::string executable;                 ///< its path; empty: not known
  std::string mpi;                        ///< mapped_mpi()
  LaunchEnvironment environment;          ///< with a rank
  std::string job;                        ///< tells its job from every other one
  std::vector<std::int64_t> ancestors;    ///< the nearest first
  std::vector<LauncherProcess> launchers; ///< among them
};

/// A process with which a launcher, or a daemon of it, starts daemons on other nodes.
struct DaemonStart {
  DaemonCommand command;
  std::vector<std::string> hosts;      ///< of these daemons, any text; empty: not known
  std::vector<std::int64_t> ancestors; ///< of the process, the nearest first
  std::string slurm_job;               ///< if srun starts them, its job; else empty
};

struct NodeScan {
  std::vector<ScannedRank> ranks; ///< with an MPI library mapped
  /// Processes with a rank and without an MPI library: they are linked statically, not yet in
  /// MPI_Init, or no ranks. One for each rank.
  std::vector<ScannedRank> unmapped;
  std::vector<LauncherProcess> launchers; ///< all of the node
  std::vector<DaemonStart> daemon_starts;
  std::vector<FindTrouble> faults;
  std::vector<FindTrouble> warnings;
};

/// Searches the processes of a node for ranks of MPI jobs. If a process with a rank has forked
/// others, only the first one is the rank. Only the launcher's variables of an environment are
/// kept. `node`: as in FindTrouble. Errors: those of NodeFiles.
Result<NodeScan> scan_node(NodeFiles& files, const std::string& node);

} // namespace mqbridge
