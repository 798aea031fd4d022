#pragma once

#include "host/dump/values/document.h"
#include "host/report/rank_groups.h"
#include "host/report/table.h"

#include <string>
#include <vector>

namespace mqbridge {

// Cells of the table of ranks. "-": not known.

std::string platform_text(const RankDump& rank); ///< "x86_64 LE64"
std::string mpi_text(const RankDump& rank);      ///< "Open MPI 4.1.4 (ob1)"
std::string held_text(const RankDump& rank);     ///< "57ms"; ">57ms": held before that, too
Cell status_cell(const RankGroup& group);        ///< "ok, inside barrier", "FAILED stub.gone"

/// Lines below the queues of a rank: why it has no communicators, what was repaired in what the
/// debug DLL said, where types came from that may not fit. `raw`: the report has the DLL's values.
std::vector<std::string> rank_notes(const RankDump& rank, bool raw);

} // namespace mqbridge
