#pragma once

#include "host/dump/pool/outcome_board.h"
#include "host/dump/shared_tools.h"

#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// --consistent: stops all targets, then reads all, then lets all go. Each server has a thread, and
/// holds its targets at once. --max-stop counts from the first stop. A target waits for others to
/// be stopped for at most half of it, and for others to be read for at most nine tenths. After that
/// the late targets and the waiting ones are read all the same, and their ranks warn
/// (stop.inconsistent). Outcomes at their targets' indices.
std::vector<RankOutcome> dump_consistently(std::span<const TargetSpec> targets,
                                           const SharedTools& tools, const DumpObserver& observer,
                                           const std::stop_token& stop);

} // namespace mqbridge
