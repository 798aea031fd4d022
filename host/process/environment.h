#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The variables in which launchers tell a process its rank, best first: OMPI_COMM_WORLD_RANK,
/// PMIX_RANK, PMI_RANK (MPICH's hydra), SLURM_PROCID.
std::span<const std::string_view> rank_variables();

/// What a launcher wrote into the process's environment about its place in the job.
struct LaunchEnvironment {
  std::optional<std::int64_t> rank; ///< the first of rank_variables() that is there
  std::optional<std::int64_t> size; ///< OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_NTASKS
  std::optional<std::string> job;   ///< PMIX_NAMESPACE, PMI_JOBID, SLURM_JOB_ID.SLURM_STEP_ID
};

/// From the bytes of /proc/PID/environ.
LaunchEnvironment parse_environment(std::string_view environ);

} // namespace mqbridge
