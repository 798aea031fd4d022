#pragma once

#include "host/dump/rank/stop_plan.h"
#include "host/dump/together/job_view.h"
#include "host/dump/values/document.h"
#include "rsp/client/features.h"
#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// When a target was held, for the spread of stops over the job.
struct HeldTime {
  std::chrono::steady_clock::time_point from;
  std::chrono::steady_clock::time_point to;
};

/// Hears what one rank does. Called on the rank's thread, while the target is held: must not block.
struct RankObserver {
  std::function<void(std::string_view phase, std::uint64_t operations)> progress = {};
  /// A warning that would come too late with the outcome: stop.long.
  std::function<void(const Error& warning)> warning = {};
};

struct RankOutcome {
  RankDump dump;
  RankClaim claim;
  std::optional<HeldTime> held;        ///< nullopt: never attached
  rsp::Features features;              ///< of the stub, once connected
  std::size_t loaded_objects = 0;      ///< in the link map
  std::optional<std::string> dll_path; ///< the chosen one, even if it was not loaded
  std::optional<StopPlan> plan;        ///< the estimate before the walk
  std::optional<StopPlan> next;        ///< the estimate for the next dump
};

} // namespace mqbridge
