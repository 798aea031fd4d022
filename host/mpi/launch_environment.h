#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The variables in which launchers tell a process its rank, best first: those of one MPI alone
/// (LauncherFacts::rank_variable), PMIX_RANK, PMI_RANK, SLURM_PROCID.
std::span<const std::string_view> rank_variables();
/// The one that Slurm writes into every process of a step, be it a rank or none.
inline constexpr std::string_view rank_variable_of_slurm = "SLURM_PROCID";

/// What a launcher wrote into the process's environment about its place in the job.
struct LaunchEnvironment {
  std::optional<std::int64_t> rank; ///< the first of rank_variables() that is there
  std::string_view rank_variable;   ///< its name; empty: none is there
  std::optional<std::int64_t> size; ///< an MPI's own variable, PMI_SIZE, SLURM_NTASKS
  std::optional<std::string> job;   ///< PMIX_NAMESPACE, PMI_JOBID, SLURM_JOB_ID.SLURM_STEP_ID
  /// `job` is the Slurm step, for want of another name: several MPI jobs may run in one.
  bool job_is_step = false;
  std::optional<std::string> slurm_job;  ///< SLURM_JOB_ID
  std::optional<std::string> slurm_step; ///< SLURM_STEP_ID; "batch" in a job without one
  std::optional<std::string> slurm_node; ///< SLURMD_NODENAME
};

/// From the bytes of /proc/PID/environ.
LaunchEnvironment parse_environment(std::string_view environ);

} // namespace mqbridge
