#pragma once

#include "host/dump/outcome_board.h"
#include "host/dump/shared_tools.h"

#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// --consistent: stops all targets, then reads all, then lets all go. Each server has a thread, and
/// holds its targets at once. Whoever is held waits for the others no longer than half of
/// --max-stop, and for those that read no longer than nine tenths: then it goes on by itself, and
/// warns (stop.inconsistent). Outcomes at their targets' indices.
std::vector<RankOutcome> dump_consistently(std::span<const TargetSpec> targets,
                                           const SharedTools& tools, const DumpObserver& observer,
                                           const std::stop_token& stop);

} // namespace mqbridge
