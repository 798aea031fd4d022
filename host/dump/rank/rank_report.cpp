#include "host/dump/rank/rank_report.h"

#include "host/dump/rank/doubts.h"
#include "host/dump/target/process_access.h"
#include "rsp/codes.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

bool is_error(const RankError& error) {
  return error.level == RankError::Level::error;
}

} // namespace

RankReport::RankReport(const TargetSpec& target, const DumpOptions& options,
                       const RankObserver& observer)
    : observer_(observer), trace_(options.trace) {
  name_target(outcome_, target);
}

void RankReport::progress(std::string_view phase, std::uint64_t operations) const {
  if (observer_.progress)
    observer_.progress(phase, operations);
}

void RankReport::warn_early(Error warning) {
  if (observer_.warning)
    observer_.warning(warning);
  warnings_.push_back(std::move(warning));
}

void RankReport::begin(PhaseName phase, std::string_view name) {
  clock_.begin(phase);
  if (trace_ != nullptr)
    trace_->phase(dump().endpoint, name);
  progress(name);
}

void RankReport::say(const Error& error, RankError::Level level) {
  dump().errors.push_back({std::string(error.code), level, error.message, error.hint});
}

void RankReport::say_warnings() {
  for (const auto& warning : std::exchange(warnings_, {}))
    say(warning, RankError::Level::warning);
}

void RankReport::say_release(const Error& error) {
  const auto& errors = dump().errors;
  const bool said = error.code == codes::stop_limit &&
                    std::any_of(errors.begin(), errors.end(),
                                [&](const RankError& other) { return other.code == error.code; });
  if (!said)
    say(error);
}

void RankReport::say_death(const Error& died) {
  std::erase_if(dump().errors, is_error);
  say(died);
  mark_doubtful(dump().communicators, QueueReason::target_died,
                "the process ended while it was held");
}

bool RankReport::any_error() const {
  return std::ranges::any_of(outcome_.dump.errors, is_error);
}

bool RankReport::has_error(std::string_view code) const {
  return std::ranges::any_of(outcome_.dump.errors, [&](const RankError& error) {
    return is_error(error) && error.code == code;
  });
}

void RankReport::forget_look() {
  dump().errors.resize(errors_before_look_);
  dump().communicators.clear();
  dump().variables.reset();
  dump().handles.reset();
}

RankStatus RankReport::conclude(bool walked, bool unread) const {
  const bool failed = any_error();
  if (failed && !walked)
    return RankStatus::failed;
  const auto& mpi = outcome_.dump.mpi;
  if (!failed && mpi && mpi->state == MpiState::finalized)
    return RankStatus::ok; // there is nothing more to know
  // An MPI that runs has communicators: a walk that found none has not seen them.
  return failed || unread || !walked || cut_short() ? RankStatus::partial : RankStatus::ok;
}

bool RankReport::cut_short() const {
  for (const auto& communicator : outcome_.dump.communicators)
    for (const auto& queue : communicator.queues)
      if (queue.state == QueueState::error || queue.truncated_by != TruncatedBy::nothing)
        return true;
  return outcome_.dump.variables && !outcome_.dump.variables->whole;
}

} // namespace mqbridge
