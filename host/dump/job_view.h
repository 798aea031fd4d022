#pragma once

#include "host/dump/document.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// What each target says of its place, beside its RankDump (same index).
struct RankClaim {
  std::optional<int> given;              ///< RANK= of the command line
  std::optional<std::string> name_space; ///< the launcher's name of the job
  std::optional<std::int64_t> environment_rank;
  std::optional<std::int64_t> environment_size;
};

/// The rank that a target has by itself: RANK=, else what the process says, else `position`. For
/// those who print a rank before the others are known.
void claim_rank(RankDump& rank, const RankClaim& claim, int position);

/// From ranks to a job: decides each target's rank and where that comes from, tells targets of
/// different jobs apart (job_id, and then RANK= or the position is the rank, with a warning),
/// orders by rank, and names communicators C1, C2, ... alike on all ranks. `dump.ranks` come in the
/// order given. Sets job_size.
void settle_job(Dump& dump, const std::vector<RankClaim>& claims);

} // namespace mqbridge
