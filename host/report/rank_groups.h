#pragma once

#include "host/dump/document.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

/// Above eight ranks, unless --full: ranks as one row of the table.
struct RankGroup {
  std::vector<const RankDump*> ranks; ///< at least one, in order
  bool queues_alike = true;           ///< false: there would be too many groups

  const RankDump& example() const { return *ranks.front(); }
};

/// Alike are ranks of the same MPI, platform, status and errors, and with the same numbers of
/// operations in the same communicators, and inside the same collectives. Where these are more than
/// `most_groups`, the numbers do not count. In order of the first rank of each.
std::vector<RankGroup> group_ranks(const Dump& dump);
inline constexpr std::size_t most_groups = 40;

/// "0-510:2"; "-": not known. At most `width` columns, where one range fits in it.
std::string rank_text(const RankGroup& group, std::size_t width);

/// Where the ranks are: "n[01-04]", or "9 hosts" where that is wider than `width`.
std::string hosts_text(const RankGroup& group, std::size_t width);

/// Operations of one class in all communicators, as count_text(); of ranks that differ
/// "0-96": the smallest and the largest number, then what else there is: "0-96,?".
std::string counts_of(const RankGroup& group, OpClass op_class);

} // namespace mqbridge
