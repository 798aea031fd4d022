#pragma once

#include "host/dump/target/target_spec.h"
#include "host/dump/values/document.h"
#include "host/launch/node.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// `JOB[.STEP]` of --slurm.
struct SlurmStep {
  std::string job;
  std::optional<std::string> step; ///< nullopt: all of them
};

/// The jobs whose ranks are to be found; with nothing set, all jobs of this host.
struct JobRequest {
  std::optional<NodeProcess> mpirun; ///< --mpirun: the launcher that has started the job
  std::optional<SlurmStep> slurm;    ///< --slurm; with nodes: only ranks on these
  std::vector<Node> nodes;           ///< --node
  /// How to reach nodes that an MPI's table or Slurm names; nullopt: by ssh and srun.
  std::optional<Launcher> launcher = {};
};

// The results of a search for the ranks of MPI jobs. Text that comes from a node (names, paths) is
// unchanged here: code that prints it must make it printable.

/// A process that is a rank of a job, or is taken for one.
struct FoundRank {
  /// How to reach it. If they are known, it has the rank, the source of the rank, and the job.
  TargetSpec target;
  std::string node;                ///< as its launcher names it; empty: this host
  std::optional<std::int64_t> pid; ///< on its node; nullopt: a stub or a core file
  std::string executable;          ///< its path; empty: not known
  std::string user;                ///< name or number; empty: not known
  std::string mpi; ///< "Open MPI", by the library that it has mapped; empty: not known
};

struct FoundJob {
  std::string name; ///< tells it from the others: "1234.0", "prte-n017-4711@1"; empty: not known
  std::optional<std::int64_t> size; ///< ranks that it should have, as its launcher says
  std::vector<std::string>
      arguments; ///< arguments that find it again: {"--mpirun", "4711"}; empty: there are none
  std::vector<FoundRank> ranks; ///< by rank; those whose rank is not known last
};

/// A node or process that could not be looked at, or is doubtful.
struct FindTrouble {
  std::string node; ///< empty: this host, or no node at all
  Error error;
  std::size_t processes = 0; ///< that it concerns; 0: the node as a whole, or none
};

struct FoundJobs {
  std::vector<FoundJob> jobs;
  std::vector<FindTrouble> faults; ///< ranks may be missing because of them
  std::vector<FindTrouble> warnings;
};

} // namespace mqbridge
