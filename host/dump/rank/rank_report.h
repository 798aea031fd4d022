#pragma once

#include "host/dump/rank/phase_clock.h"
#include "host/dump/rank/rank_outcome.h"
#include "host/dump/take_dump.h"
#include "host/process/process_source.h"
#include "rsp/packet/trace.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mqbridge {

/// The report of one rank while its dump goes on: the outcome so far, its errors and warnings, and
/// its phase. One thread. References outlive it.
class RankReport {
public:
  RankReport(const TargetSpec& target, const DumpOptions& options, const RankObserver& observer);

  RankOutcome& outcome() { return outcome_; }
  RankDump& dump() { return outcome_.dump; }
  /// Warnings that are not in the outcome yet: say_warnings() puts them there.
  Warnings& warnings() { return warnings_; }
  PhaseClock& clock() { return clock_; }

  void begin(PhaseName phase, std::string_view name);
  void progress(std::string_view phase, std::uint64_t operations = 0) const;
  /// Shows a warning at once: the user may want to end the dump before the target is held for long.
  void warn_early(Error warning);

  void say(const Error& error, RankError::Level level = RankError::Level::error);
  void say_warnings();
  /// Reports an error of the release. Does nothing for stop.limit if another step has reported that
  /// already.
  void say_release(const Error& error);
  /// The process ended while it was held: whatever else seemed wrong may be so because reads
  /// failed.
  void say_death(const Error& died);

  bool any_error() const;
  bool has_error(std::string_view code) const;
  bool has_stacks() const { return outcome_.dump.stacks.has_value(); }
  bool has_handles() const { return outcome_.dump.handles.has_value(); }
  bool has_variables() const { return outcome_.dump.variables.has_value(); }
  /// All errors so far will stay when a look is repeated.
  void mark() { errors_before_look_ = outcome_.dump.errors.size(); }
  /// Drops the errors since mark().
  void forget_look();

  /// `walked`: at least one communicator was found, even if filters leave none, or another question
  /// was answered. `unread`: some of the transport's requests were not read.
  RankStatus conclude(bool walked, bool unread) const;

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
