#pragma once

#include "host/disk/spawn.h"
#include "host/watch/job_processes.h"
#include "host/watch/relay.h"
#include "host/watch/signal_inbox.h"
#include "rsp/guardian/hold_gate.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge {

/// Limits for a command. nullopt: none.
struct WatchLimits {
  std::optional<std::chrono::milliseconds> total;   ///< from its start to its end
  std::optional<std::chrono::milliseconds> silence; ///< without a byte on stdout or stderr
};

enum class WatchEnd : std::uint8_t {
  ended,    ///< the command, by itself
  too_long, ///< WatchLimits::total is over
  silent,   ///< WatchLimits::silence is over
};

/// A command that runs in the place of this process, as under timeout(1): it has our stdin, process
/// group and terminal, and gets the signals that we get. Its stdout and stderr are ours; with
/// WatchLimits::silence they come through pipes, byte by byte.
///
/// Orphans of the command become children of this process, so that end() finds them. Construct it
/// before any other thread, and use it in that thread. One at a time in a process.
class WatchedCommand {
public:
  /// `variables`: for its environment, added to ours or replacing it. Errors: run.pipe,
  /// run.signals, command.not_found, command.start.
  static Result<std::unique_ptr<WatchedCommand>>
  start(const std::vector<std::string>& argv, const WatchLimits& limits,
        std::span<const EnvironmentVariable> variables = {});
  ~WatchedCommand();
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;

  /// Waits for its end, or for a limit. When it has ended its output has been passed on; later
  /// output of its orphans is not waited for.
  WatchEnd wait();

  /// Runs `work` in a thread of its own until it returns. `work` may start processes, and may hold
  /// targets that it counts in holds(). Meanwhile the command gets its signals, and its output goes
  /// on. A signal that asks the command to end also requests the stop of `work`; then the command
  /// has up to `grace` to end.
  void wait_for(const std::function<void(std::stop_token)>& work, std::chrono::milliseconds grace);
  /// Targets held by `work` are counted here: this process is only suspended while there are none.
  rsp::HoldGate& holds() { return holds_; }

  /// Ends the command and all its descendants: SIGTERM, after `grace` SIGKILL. Returns processes
  /// that are still there some seconds later (in a system call that cannot be interrupted).
  std::vector<JobProcess> end(std::chrono::milliseconds grace);

  pid_t pid() const { return pid_; }
  /// As a shell says it: 128 + N where signal N ended it. nullopt: it runs.
  std::optional<int> exit_status() const;
  /// The processes of the command that run now. Not to be called while `work` of wait_for() runs,
  /// since its processes would be among them.
  std::vector<JobProcess> processes() const { return own_descendants(strangers_); }

private:
  using Clock = std::chrono::steady_clock;

  WatchedCommand(SignalInbox inbox, const WatchLimits& limits)
      : inbox_(std::move(inbox)), limits_(limits) {}
  Result<StandardStreams> open_relays();
  Result<void> spawn(const std::vector<std::string>& argv,
                     std::span<const EnvironmentVariable> variables);
  std::optional<Clock::time_point> total_end() const;
  std::optional<Clock::time_point> silence_end() const;
  void step(std::optional<Clock::time_point> until, int also = -1);
  void take_signals();
  void pass_on(const CaughtSignal& signal);
  void send_to_group(const std::vector<JobProcess>& processes, int signal) const;
  void suspend_when_nothing_is_held();
  bool is_owing() const;
  void reap();
  void flush_output();

  SignalInbox inbox_;
  const WatchLimits limits_;
  KnownProcesses strangers_;  ///< children from before the command
  std::vector<Relay> relays_; ///< of stdout and stderr; one where both are the same file
  pid_t pid_ = -1;
  std::optional<int> status_; ///< as waitpid() gives it
  Clock::time_point started_;
  Clock::time_point last_output_;
  rsp::HoldGate holds_;
  std::stop_source work_;
  bool works_ = false;         ///< there are children that others reap
  bool is_suspending_ = false; ///< as soon as nothing is held
  bool asked_to_end_ = false;  ///< by a signal
};

} // namespace mqbridge
