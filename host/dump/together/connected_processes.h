#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Joins the recorders' reports about processes of several jobs: a process that was spawned or
/// connected knows only its own side of a communicator. For each joint (RankDump::joints) this
/// finds the one on the other side: sizes fit, both have the same mark, times agree, and no other
/// joint does all that. Then each communicator that comes from the joint (Communicator::joined)
/// gets its members, and the same context on all of them. If two joints fit, both are left alone.
/// `job_of`: as in name_communicators().
void connect_processes(Dump& dump, const std::vector<std::size_t>& job_of);

} // namespace mqbridge
