#pragma once

#include "host/job/job_search.h"
#include "host/launch/node.h"
#include "host/mpi/launch_environment.h"
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

/// Parses the output of `squeue --format` with squeue_format; lines of any other form are left out.
std::vector<SlurmJobLine> parse_squeue(std::string_view output);
extern const std::string squeue_format;

/// JOB[.STEP]: 48213, 48213_4, 48213+1, 48213.0, 48213.batch. nullopt: anything else, such as an
/// option of squeue.
std::optional<SlurmStep> parse_slurm_step(std::string_view text);

struct SlurmNodes {
  std::vector<Node> nodes;
  /// The values of SLURM_JOB_ID in its processes, also for the leader of a heterogeneous job.
  std::set<std::string> numbers;
  bool is_array = false; ///< several tasks of one run, each with a number of its own
};

/// The nodes of a running job, according to squeue and scontrol of this host, which get a bounded
/// time. `launcher`: how to reach them. Errors: command.start, command.timeout, slurm.query (in
/// Slurm's words), slurm.not_running, slurm.nodes, node.name.
Result<SlurmNodes> find_slurm_nodes(const SlurmStep& step, Launcher launcher);

/// Whether a process that was seen on `node` belongs to that node: several of Slurm's nodes may be
/// one computer, and each of them shows all its processes. `named_by_slurm`: ssh's names are
/// Slurm's, too; names that a user writes need not be.
bool says_node(const LaunchEnvironment& environment, const Node& node, bool named_by_slurm);

/// The fields of a line of `scontrol --oneliner show steps`.
struct SlurmStepLine {
  SlurmStep step;    ///< of a heterogeneous job: of the whole
  std::string host;  ///< that its srun runs on
  std::int64_t srun; ///< the process
};
std::vector<SlurmStepLine> parse_steps(std::string_view output);

/// The step that the process `srun` of this host has started; nullopt: Slurm knows none, or cannot
/// be asked. A whole cluster has many steps: the steps of the job that the process names are tried
/// first.
std::optional<SlurmStep> step_of_srun(std::int64_t srun);

/// The job in which a process of this host was started, as its environment says.
std::optional<SlurmStep> job_around(std::int64_t pid);

} // namespace mqbridge
