#pragma once

#include "host/dump/values/document.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// What each target knows about its rank and job, beside its RankDump (same index).
struct RankClaim {
  std::optional<int> given;              ///< by the user, or by the search that found the target
  std::optional<std::string> name_space; ///< the launcher's name of the job
  std::optional<std::int64_t> environment_rank;
  std::optional<std::int64_t> environment_size;
  std::string identity; ///< Target::identity(); empty: not known
  RankSource given_by = RankSource::given;
  std::optional<std::string> given_job = {}; ///< the name of its job, given in the same way
};

/// The rank and job of a target without the others: RANK=, else what the process says, else none;
/// its place among the targets is no rank. For callers that print it before the others are known.
void claim_rank(RankDump& rank, const RankClaim& claim);

/// Makes jobs of ranks. It decides each target's rank and where that comes from; marks a target
/// whose process another target has shown already (error target.twice); tells targets of different
/// jobs apart (job_id, with a warning; each job has ranks of its own); orders by job and rank; and
/// names communicators C1, C2, ... alike on all ranks. `dump.ranks` come in the order given. Sets
/// job_size.
void settle_job(Dump& dump, std::vector<RankClaim> claims);

} // namespace mqbridge
