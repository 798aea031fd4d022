#pragma once

#include "host/dump/rank/phase_clock.h"
#include "host/dump/rank/rank_outcome.h"
#include "host/dump/shared_tools.h"
#include "host/process/stopped_process.h"
#include "rsp/client/features.h"
#include "rsp/exchange/counters.h"
#include "rsp/exchange/link_estimate.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace mqbridge::rsp {
class SharedStub;
}

namespace mqbridge {

/// A process that was opened, and the facts learnt while opening it.
struct OpenedProcess {
  std::unique_ptr<ProcessSource> source;
  bool stopped_before_us = false;             ///< it has been stopped since before our attach
  std::optional<std::string> entry_hint = {}; ///< why there may be nothing to see in it yet
};

/// The end of the hold on a process.
struct Release {
  Result<void> done;
  std::optional<Error> died = {}; ///< target.died: it ended while it was held
  HeldTime held;
  std::string stopped_at; ///< RFC 3339
};

/// Gets hold of one target's process and lets it go, and measures the time for which it stands
/// still in between. In order: connect(), open(), release(); the other functions in between. One
/// thread, except cancel().
class ProcessAccess {
public:
  using Clock = PhaseClock::Clock;

  ProcessAccess() = default;
  virtual ~ProcessAccess() = default;
  ProcessAccess(const ProcessAccess&) = delete;
  ProcessAccess& operator=(const ProcessAccess&) = delete;

  /// Does everything that is possible before the process is stopped for us.
  virtual Result<void> connect(std::stop_token stop) = 0;
  /// Stops the process for us: from here on it stands still.
  virtual Result<OpenedProcess> open() = 0;
  /// From any thread: what is in progress ends soon.
  virtual void cancel() = 0;

  /// When `share` of --max-stop is over; nullopt: --max-stop does not count.
  virtual std::optional<Clock::time_point> deadline(double share = 1.0) const = 0;
  /// Sets a limit: every exchange except the release ends when `share` of --max-stop is over, and
  /// at the latest at `at_most`; without both there is none. Returns when the share is over, as
  /// deadline() does.
  virtual std::optional<Clock::time_point> limit(double share,
                                                 std::optional<Clock::time_point> at_most = {}) = 0;
  /// Whether the process stands still for us.
  virtual bool holds() const = 0;
  /// How long the process stands still for us by now; 0: it does not.
  virtual Clock::duration held_so_far() const = 0;
  /// Warnings of open(), even if it failed; each is returned once.
  virtual Warnings take_warnings() = 0;
  /// The process id on the process's own node; nullopt: not known yet.
  virtual std::optional<std::int64_t> pid() const = 0;
  /// The process's state as ps showed it before it was stopped; nullopt: not known.
  virtual std::optional<std::string> process_state() const = 0;

  /// Facts about the connection to the process; empty if there is none.
  virtual rsp::Features features() const = 0;
  virtual rsp::Counters counters() const = 0;
  virtual rsp::LinkEstimate link_estimate() const = 0;

  /// Lets the process run on, through `process` if there is one. `any_error`: something has failed,
  /// perhaps because the process ended. nullopt: nothing was held.
  virtual std::optional<Release> release(StoppedProcess* process, bool any_error) = 0;
};

/// Access to that target. `stub`: the connection that the targets behind one `gdbserver --multi`
/// share, null before the first of them. All arguments outlive it.
std::unique_ptr<ProcessAccess> access_to(const TargetSpec& target, const SharedTools& tools,
                                         std::shared_ptr<rsp::SharedStub>& stub);

/// Fills in the facts about a target that are known before it is reached: endpoint, host, pid, and
/// how the user gave it.
void name_target(RankOutcome& outcome, const TargetSpec& target);

} // namespace mqbridge
