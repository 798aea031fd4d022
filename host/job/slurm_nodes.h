#pragma once

#include "host/job/job_request.h"
#include "host/launch/node.h"
#include "host/process/environment.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A line of squeue: a job, or a component of a heterogeneous one.
struct SlurmJobLine {
  std::string number; ///< SLURM_JOB_ID
  std::string name;   ///< as people name it: 77, 77_3, 77+1
  std::string nodes;  ///< "n[1-2],n7"; empty: it has none
  std::string state;
};

/// What `squeue --format` with squeue_format has said; lines of any other kind are left out.
std::vector<SlurmJobLine> parse_squeue(std::string_view output);
extern const std::string squeue_format;

struct SlurmNodes {
  std::vector<Node> nodes;
  /// What SLURM_JOB_ID says in its processes: that of a heterogeneous job's leader, too.
  std::set<std::string> numbers;
  bool is_array = false; ///< several tasks of one run, each with a number of its own
};

/// The nodes of a running job, as squeue and scontrol of this host say, which are given a bounded
/// time. `launcher`: how they are reached. Errors: command.start, command.timeout, slurm.query (in
/// Slurm's words), slurm.not_running, slurm.nodes, node.name.
Result<SlurmNodes> find_slurm_nodes(const SlurmStep& step, Launcher launcher);

/// Whether a process that was seen on `node` is that node's: several of Slurm's nodes may be one
/// computer, whose processes each of them shows. `named_by_slurm`: ssh's names are Slurm's, too;
/// those that a user writes need not be.
bool says_node(const LaunchEnvironment& environment, const Node& node, bool named_by_slurm);

/// What a line of `scontrol --oneliner show steps` says of a step.
struct SlurmStepLine {
  SlurmStep step;    ///< of a heterogeneous job: of the whole
  std::string host;  ///< that its srun runs on
  std::int64_t srun; ///< the process
};
std::vector<SlurmStepLine> parse_steps(std::string_view output);

/// The step that the process `srun` of this host has started; nullopt: Slurm knows none, or cannot
/// be asked. The step of the job that the process itself names is looked for first: a whole cluster
/// has many.
std::optional<SlurmStep> step_of_srun(std::int64_t srun);

} // namespace mqbridge
