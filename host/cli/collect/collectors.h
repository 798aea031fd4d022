#pragma once

#include "host/cli/arguments/commands.h"
#include "host/collect/collect.h"
#include "host/dump/workshop.h"
#include "rsp/result.h"

#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

struct CollectorPlan {
  std::vector<Collector> collectors;
  std::vector<RankError> troubles; ///< met while looking for the nodes and ranks
};

/// Plans one command for each node, or one srun for all nodes of a job. If Slurm or the user tells
/// the nodes of the job, each collector looks for its ranks itself. Otherwise the ranks are found
/// first, and each collector is told its own. `program`: mqbridge on the nodes. Errors:
/// job.no_rank, those of choose_targets() and find_slurm_nodes().
Result<CollectorPlan> plan_collectors(const DumpCommand& command, const std::string& program,
                                      Workshop& workshop, std::stop_token stop);

} // namespace mqbridge
