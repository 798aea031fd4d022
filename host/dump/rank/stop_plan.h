#pragma once

#include "host/memory/cache_mode.h"
#include "host/memory/page_runs.h"
#include "host/mpi/queue_extent.h"
#include "rsp/exchange/link_estimate.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace mqbridge {

/// The facts for estimating how long a target will be held: `replay`, else `extent`. If neither is
/// known there is no estimate: the sizes of a process's mappings do not tell how much a walk reads
/// (2 GB were mapped where it read 0.1 MB).
struct StopFacts {
  rsp::LinkEstimate link;
  CacheMode cache = CacheMode::full;
  PageRuns replay = {};                   ///< pages that the last dump of this process looked at
  std::uint64_t pages_read = 0;           ///< before the walk begins: `replay`'s come first
  std::optional<QueueExtent> extent = {}; ///< from its MPI's own counts
  std::chrono::duration<double> held_so_far{}; ///< until the walk begins
};

struct StopPlan {
  enum class Basis : std::uint8_t { replay, extent, nothing };
  Basis basis = Basis::nothing;
  std::uint64_t bytes = 0; ///< to read for the queues
  std::chrono::duration<double> walk{};
  std::chrono::duration<double> held{}; ///< in all, the detach included
  /// The worst case, and no forecast: the link has shown with a few pages that it is fast, but not
  /// yet how fast.
  bool is_upper_bound = false;
};

/// Estimates, before the walk, how long the target will be held.
StopPlan plan_stop(const StopFacts& facts);

/// The time over a slow line before the queues can be looked at (attach, auxiliary vector, link
/// map, headers), if only the line's rate is known. 0: that is not known either.
std::chrono::duration<double> start_up_time(const rsp::LinkEstimate& link);

/// Warning stop.long: the target would be held for longer than usual, and --max-stop does not allow
/// it expressly. nullopt: it would not be, or there is no estimate.
std::optional<Error> long_stop_warning(const StopPlan& plan,
                                       std::optional<std::chrono::milliseconds> max_stop);
/// The same before the attach, for a time that the start alone takes.
std::optional<Error> long_start_warning(std::chrono::duration<double> start_up,
                                        std::optional<std::chrono::milliseconds> max_stop);

} // namespace mqbridge
