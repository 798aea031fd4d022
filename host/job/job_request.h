#pragma once

#include "host/launch/node.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// `JOB[.STEP]` of --slurm.
struct SlurmStep {
  std::string job;
  std::optional<std::string> step; ///< nullopt: all of them
};

/// Whose ranks are to be found; nothing set: those of all jobs of this host.
struct JobRequest {
  std::optional<NodeProcess> mpirun; ///< --mpirun: the launcher that has started the job
  std::optional<SlurmStep> slurm;    ///< --slurm
  std::vector<Node> nodes;           ///< --node
  /// How the nodes are reached that an MPI's or Slurm's own tables name.
  Launcher launcher = Launcher::ssh;
};

} // namespace mqbridge
