#pragma once

#include "host/dump/outcome_board.h"
#include "host/dump/shared_tools.h"

#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// --consistent: stops all targets, then reads all, then lets all go. Each server has a thread, and
/// holds its targets at once. --max-stop counts from the first stop. Nobody waits for others to be
/// stopped longer than half of it, nor for others to be read longer than nine tenths: then who was
/// waited for, or was not, is read all the same, and its rank warns (stop.inconsistent). Outcomes
/// at their targets' indices.
std::vector<RankOutcome> dump_consistently(std::span<const TargetSpec> targets,
                                           const SharedTools& tools, const DumpObserver& observer,
                                           const std::stop_token& stop);

} // namespace mqbridge
