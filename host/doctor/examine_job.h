#pragma once

#include "host/doctor/checklist.h"
#include "host/dump/workshop.h"

#include <span>
#include <stop_token>

namespace mqbridge {

/// Goes through the steps of a dump on each node of a job, at most --jobs nodes at once. On each
/// one rank is examined as by examine(), the first of three that can be attached to; of the others
/// there it is only read from /proc whether they could be: none of them is held. Nodes with equal
/// checklists are one group.
JobChecklist examine_job(std::span<const TargetSpec> targets, Workshop& workshop,
                         std::stop_token stop);

/// Groups nodes whose checklists say the same, whatever their names, processes and times. In order
/// of the first node of each.
std::vector<NodeChecklist> fold_nodes(std::vector<NodeChecklist> nodes);

} // namespace mqbridge
