#pragma once

#include "host/doctor/checklist.h"
#include "host/dump/workshop.h"
#include "rsp/client/attach_facts.h"

#include <span>
#include <stop_token>

namespace mqbridge {

/// Goes through the steps of a dump on each node of a job, at most --jobs nodes at once. A stub
/// that is running already counts as a node. On each node one rank is examined as by examine(): the
/// first of three that can be attached to. For the other ranks of a node it is only read from /proc
/// whether they could be attached to: none of them is held. Further processes behind one stub are
/// not looked at. Nodes with equal checklists are one group.
JobChecklist examine_job(std::span<const TargetSpec> targets, Workshop& workshop,
                         std::stop_token stop);

/// Whether processes could be held that are not held now. `others`, which is not empty, are
/// NodeProcesses of the node that `files` reads. If it cannot be found out, the check does not say
/// ok.
std::vector<Check> look_at_others(std::span<const TargetSpec* const> others,
                                  const rsp::FileSource& files, const std::stop_token& stop);

/// Groups nodes whose checklists are equal, apart from names, processes and times. In the order of
/// each group's first node.
std::vector<NodeChecklist> fold_nodes(std::vector<NodeChecklist> nodes);

} // namespace mqbridge
