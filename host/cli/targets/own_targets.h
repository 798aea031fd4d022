#pragma once

#include "host/cli/targets/targets.h"
#include "host/watch/job_processes.h"

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// The launchers of MPI jobs among the processes of a command, without launchers that another one
/// of them has started. `processes`: parents before their children.
std::vector<JobProcess> outermost_launchers(std::span<const JobProcess> processes);

/// The ranks of a job that this program has started itself. They are the ranks of its launchers;
/// without a launcher, its processes that have an MPI library mapped (`./solver`, or a rank of
/// srun's). May be none. `launcher`: how to reach nodes that a launcher's table names. Errors: as
/// choose_targets().
Result<ChosenTargets> choose_own_targets(std::span<const JobProcess> processes,
                                         std::optional<Launcher> launcher, Workshop& workshop,
                                         const std::stop_token& stop);

} // namespace mqbridge
