#pragma once

#include "host/dump/document.h"
#include "host/dump/job_view.h"
#include "host/dump/shared_tools.h"
#include "host/dump/stop_plan.h"
#include "host/dump/take_dump.h"
#include "rsp/client/features.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace mqbridge::rsp {
class SharedStub;
}

namespace mqbridge {

/// When a target was held, for the spread of stops over the job.
struct HeldTime {
  std::chrono::steady_clock::time_point from;
  std::chrono::steady_clock::time_point to;
};

/// Who is told what one rank does. Called on the rank's thread, while the target is held: must not
/// block.
struct RankObserver {
  std::function<void(std::string_view phase, std::uint64_t operations)> progress = {};
  /// A warning that comes too late with the outcome: stop.long.
  std::function<void(const Error& warning)> warning = {};
};

struct RankOutcome {
  RankDump dump;
  RankClaim claim;
  std::optional<HeldTime> held;        ///< nullopt: never attached
  rsp::Features features;              ///< of the stub, once connected
  std::size_t loaded_objects = 0;      ///< in the link map
  std::optional<std::string> dll_path; ///< chosen, whether or not it came to be loaded
  std::optional<StopPlan> plan;        ///< what was to be expected before the walk
  std::optional<StopPlan> next;        ///< what is to be expected of the next dump
};

/// Dumps one target, from connect to detach. Never fails: what went wrong
/// stands in the outcome. On return the target is released. One thread.
/// `server` is the connection that the targets behind one `gdbserver --multi` share, null before
/// the first of them; they are dumped one after the other.
RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer,
                      std::stop_token stop);

} // namespace mqbridge
