#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

/// A group of ranks that is one row of the table, if there are more than eight ranks and no --full.
struct RankGroup {
  std::vector<const RankDump*> ranks; ///< at least one, in order
  bool queues_alike = true;           ///< false: there would be too many groups

  const RankDump& example() const { return *ranks.front(); }
};

/// Groups equal ranks: with the same MPI, platform, status and errors, the same numbers of
/// operations in the same communicators, and inside the same collectives. If there were more than
/// `most_groups`, the numbers do not count. In the order of each group's first rank.
std::vector<RankGroup> group_ranks(const Dump& dump);
inline constexpr std::size_t most_groups = 40;

/// "0-510:2"; "-": not known. At most `width` columns, where one range fits in it.
std::string rank_text(const RankGroup& group, std::size_t width);

/// Where the ranks are: "n[01-04]", or "9 hosts" where that is wider than `width`.
std::string hosts_text(const RankGroup& group, std::size_t width);

/// Operations of one class in all communicators, as count_text(). If the ranks differ, "0-96": the
/// smallest and the largest number, then other texts: "0-96,?".
std::string counts_of(const RankGroup& group, OpClass op_class);

} // namespace mqbridge
