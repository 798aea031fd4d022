#pragma once

#include "host/dump/take_dump.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

namespace mqbridge {

/// As DumpObserver, for both looks, with the indices of the given targets. rank_done is called once
/// for each rank, with its state in the document.
struct LooksObserver {
  DumpObserver dump;
  /// The first look is over: no target is stopped for this time.
  std::function<void(std::chrono::milliseconds pause)> waiting = {};
  /// The second look begins, at so many targets.
  std::function<void(std::size_t targets)> again = {};
};

/// Dumps every target as take_dump() does, and once more after `again` (nullopt: only once). The
/// second look is the document, and the first one is in Dump::earlier. Targets that cannot be
/// attached a second time (dead, or behind a stub that a command started) are looked at once, and a
/// warning of the document says so. A rank that is not reached again keeps its first look, with a
/// warning (twice.failed; twice.exited if the process has exited). If a stop is requested
/// meanwhile, the results so far stay.
Dump take_looks(std::span<const TargetSpec> targets, Workshop& workshop,
                const LooksObserver& observer, std::optional<std::chrono::milliseconds> again,
                std::stop_token stop);

using RankDone = std::function<void(const RankDump&)>;

/// Takes the second look at a job by `look`, which reports each rank as it completes, and makes one
/// document of both looks. `rank_done` is called once for each rank in it. Ranks are identified by
/// their endpoints, and have the rank and the job of the first look, which may have seen more.
Dump look_again(Dump first, const RankDone& rank_done,
                const std::function<Dump(const RankDone& rank_done)>& look);

/// Applies the document's filters to the queues that recorders keep (FilterOf), once all looks are
/// there. take_looks() does so; look_again() does not.
void apply_late_filters(Dump& dump);

/// Waits. False: the stop was requested.
bool pause_for(std::chrono::milliseconds pause, const std::stop_token& stop);

} // namespace mqbridge
