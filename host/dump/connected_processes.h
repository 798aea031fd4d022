#pragma once

#include "host/dump/document.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Puts together what the recorders of several jobs say of each other: a process that was spawned
/// or connected knows its own side of a communicator alone. Finds for each joint (RankDump::joints)
/// the one on the other side: sizes that fit, the mark that both know, times that agree, and nobody
/// else of whom all of that holds. Then gives each communicator that comes from it
/// (Communicator::joined) its members, and a context that is the same on all of them. Where two
/// joints may be meant nothing is given: both stay of one process alone. `job_of`: as in
/// name_communicators().
void connect_processes(Dump& dump, const std::vector<std::size_t>& job_of);

} // namespace mqbridge
