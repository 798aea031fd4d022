#pragma once

#include "host/dump/phase_clock.h"
#include "host/dump/rank_dump.h"
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

namespace mqbridge {

/// What opening a process has told of it beside the process itself.
struct OpenedProcess {
  std::unique_ptr<ProcessSource> source;
  bool stopped_before_us = false;             ///< it has been stopped for longer than we know
  std::optional<std::string> entry_hint = {}; ///< why there may be nothing to see in it yet
};

/// How the hold on a process has ended.
struct Release {
  Result<void> done;
  std::optional<Error> died = {}; ///< target.died: it ended while it was held
  HeldTime held;
  std::string stopped_at; ///< RFC 3339
};

/// How one target's process is come by and let go, and the time for which it stands still between
/// the two. In order: connect(), open(), release(); anything else in between. One thread, but for
/// cancel().
class ProcessAccess {
public:
  using Clock = PhaseClock::Clock;

  ProcessAccess() = default;
  virtual ~ProcessAccess() = default;
  ProcessAccess(const ProcessAccess&) = delete;
  ProcessAccess& operator=(const ProcessAccess&) = delete;

  /// What has to be done before the process is stopped for us.
  virtual Result<void> connect(std::stop_token stop) = 0;
  /// From here on the process stands still.
  virtual Result<OpenedProcess> open() = 0;
  /// From any thread: what is in progress ends soon.
  virtual void cancel() = 0;

  /// When `share` of --max-stop has passed; nullopt: it does not count.
  virtual std::optional<Clock::time_point> deadline(double share = 1.0) const = 0;
  /// Every exchange but the release ends when `share` of --max-stop has passed, and `at_most` then.
  /// When the share has passed, as deadline().
  virtual std::optional<Clock::time_point> limit(double share,
                                                 std::optional<Clock::time_point> at_most = {}) = 0;
  /// Whether the process stands still for us.
  virtual bool holds() const = 0;
  /// How long the process stands still for us by now; 0: it does not.
  virtual Clock::duration held_so_far() const = 0;
  /// Warnings of open(), whether or not it came to its end; each once.
  virtual Warnings take_warnings() = 0;
  /// Its process id on its own node, as far as it is known by now.
  virtual std::optional<std::int64_t> pid() const = 0;
  /// The process's state as ps showed it before it was stopped; nullopt: not known.
  virtual std::optional<std::string> process_state() const = 0;

  /// Of the way to the process; all of it empty where there is none.
  virtual rsp::Features features() const = 0;
  virtual rsp::Counters counters() const = 0;
  virtual rsp::LinkEstimate link_estimate() const = 0;

  /// Lets the process run on, by way of `process` where it came to be. `any_error`: something has
  /// failed, and the end of the process may be why. nullopt: nothing was held.
  virtual std::optional<Release> release(StoppedProcess* process, bool any_error) = 0;
};

/// The way to that target. `stub`: what the targets behind one `gdbserver --multi` share, null
/// before the first of them. All outlive it.
std::unique_ptr<ProcessAccess> access_to(const TargetSpec& target, const SharedTools& tools,
                                         std::shared_ptr<rsp::SharedStub>& stub);

/// What is known of a target before it is reached: endpoint, host, pid, and what it was given as.
void name_target(RankOutcome& outcome, const TargetSpec& target);

} // namespace mqbridge
