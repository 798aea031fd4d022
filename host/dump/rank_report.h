#pragma once

#include "host/dump/phase_clock.h"
#include "host/dump/rank_dump.h"
#include "host/process/process_source.h"
#include "rsp/packet/trace.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mqbridge {

/// What is said of one rank while its dump goes on: the outcome so far, its errors and warnings,
/// and which phase it is in. One thread. References outlive it.
class RankReport {
public:
  RankReport(const TargetSpec& target, const DumpOptions& options, const RankObserver& observer);

  RankOutcome& outcome() { return outcome_; }
  RankDump& dump() { return outcome_.dump; }
  /// Not reported yet: say_warnings() does.
  Warnings& warnings() { return warnings_; }
  PhaseClock& clock() { return clock_; }

  void begin(PhaseName phase, std::string_view name);
  void progress(std::string_view phase, std::uint64_t operations = 0) const;
  /// The user may want to end the dump before it holds the target for long.
  void warn_early(Error warning);

  void say(const Error& error, RankError::Level level = RankError::Level::error);
  void say_warnings();
  /// Of letting the target go. That the time was over has been said with what took it.
  void say_release(const Error& error);
  /// The process ended while it was held: whatever else seemed wrong may be so because reads
  /// failed.
  void say_death(const Error& died);

  bool any_error() const;
  bool has_error(std::string_view code) const;
  bool has_stacks() const { return outcome_.dump.stacks.has_value(); }
  bool has_handles() const { return outcome_.dump.handles.has_value(); }
  bool has_variables() const { return outcome_.dump.variables.has_value(); }
  /// All that has been said so far stays, whatever a later look says.
  void mark() { errors_before_look_ = outcome_.dump.errors.size(); }
  /// Back to there.
  void forget_look();

  /// `walked`: at least one communicator was found, whatever the filters leave, or what else was
  /// asked for. `bypassed`: the transport keeps its queues where the DLL does not look.
  RankStatus conclude(bool walked, bool bypassed) const;

private:
  bool cut_short() const;

  const RankObserver& observer_;
  rsp::Trace* trace_;
  RankOutcome outcome_;
  PhaseClock clock_;
  Warnings warnings_;
  std::size_t errors_before_look_ = 0;
};

} // namespace mqbridge
