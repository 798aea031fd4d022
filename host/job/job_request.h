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
  std::optional<SlurmStep> slurm;    ///< --slurm; with nodes: those of its ranks that are there
  std::vector<Node> nodes;           ///< --node
  /// How nodes are reached that an MPI's table or Slurm names; nullopt: by ssh and srun.
  std::optional<Launcher> launcher = {};
};

} // namespace mqbridge
