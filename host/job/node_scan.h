#pragma once

#include "host/job/findings.h"
#include "host/job/node_files.h"
#include "host/mpi/launcher_programs.h"
#include "host/process/environment.h"
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

/// A process that says its rank.
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

struct NodeScan {
  std::vector<ScannedRank> ranks; ///< with an MPI library mapped
  /// Without: linked statically, not yet in MPI_Init, or no ranks. One for each of them.
  std::vector<ScannedRank> unmapped;
  std::vector<LauncherProcess> launchers; ///< all of the node
  std::vector<FindTrouble> faults;
  std::vector<FindTrouble> warnings;
};

/// Looks through the processes of a node for ranks of MPI jobs. Of a process and those that it has
/// forked the first one is the rank. Of environments nothing is kept but what a launcher wrote.
/// `node`: as in FindTrouble. Errors: those of NodeFiles.
Result<NodeScan> scan_node(NodeFiles& files, const std::string& node);

} // namespace mqbridge
