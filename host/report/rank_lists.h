#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

using Ranks = std::vector<const RankDump*>;

/// "1 thread", "3 threads"
std::string counted(std::size_t count, std::string_view one);

/// "1,143"
std::string thousands(std::uint64_t count);

/// The usual width of a list of ranks.
inline constexpr std::size_t widest_ranks = 24;

/// "0-3,7"; behind them the processes whose ranks are not known: "0-3,n017:41822". Of a list that
/// is wider the start: "0,2,5 and 40 more".
std::string ranks_text(const Ranks& ranks, std::size_t width);

/// The document's ranks, job by job.
std::vector<Ranks> by_job(const Dump& dump);

} // namespace mqbridge
