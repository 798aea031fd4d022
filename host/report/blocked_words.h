#pragma once

#include "host/dump/values/document.h"
#include "host/report/rank_groups.h"

#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// The calls in which the application's threads of a process are, for a heading: "in MPI_Recv at
/// halo.c:212", "outside MPI: compute at solve.c:41, in system call futex", "in MPI_Recv at a.c:1,
/// MPI_Send at a.c:9 (2 threads)". Empty: not known.
/// With `arguments` "in MPI_Recv from 3 tag 17 (from the call's arguments) at halo.c:212".
std::string blocked_words(const RankDump& rank, bool arguments = false);

/// The ranks of a group by blocked_words(), those of most ranks first.
std::vector<std::pair<std::string, RankGroup>> by_blocked_words(const RankGroup& group);

/// The helper threads of a process by the functions that they began in: "2 helper threads:
/// listen_thread, progress_engine". Empty: none, or not known.
std::string helper_words(const RankDump& rank);

} // namespace mqbridge
