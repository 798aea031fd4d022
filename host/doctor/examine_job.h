#pragma once

#include "host/doctor/checklist.h"
#include "host/dump/workshop.h"
#include "rsp/client/attach_refusal.h"

#include <span>
#include <stop_token>

namespace mqbridge {

/// Goes through the steps of a dump on each node of a job, at most --jobs nodes at once. A stub
/// that is there already counts as a node in this. On each one rank is examined as by examine(),
/// the first of three that can be attached to; of the others there it is only read from /proc
/// whether they could be: none of them is held. Those behind one stub are not looked at. Nodes with
/// equal checklists are one group.
JobChecklist examine_job(std::span<const TargetSpec> targets, Workshop& workshop,
                         std::stop_token stop);

/// Could processes that are not held be held? `others` are NodeProcesses of the node that `files`
/// reads: not empty. What cannot be asked is not praised.
std::vector<Check> look_at_others(std::span<const TargetSpec* const> others,
                                  const rsp::FileSource& files, const std::stop_token& stop);

/// Groups nodes whose checklists say the same, whatever their names, processes and times. In order
/// of the first node of each.
std::vector<NodeChecklist> fold_nodes(std::vector<NodeChecklist> nodes);

} // namespace mqbridge
