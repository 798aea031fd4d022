#include "host/dump/pool/outcome_board.h"

#include "host/dump/target/process_access.h"

#include <string>
#include <utility>

namespace mqbridge {

/// Does not wait for the lock: a target is held meanwhile, and the lock's owner may be writing a
/// finished rank into a pipe that nobody reads.
RankObserver OutcomeBoard::observer_of(std::size_t index) {
  RankObserver observer;
  observer.progress = [this, index](std::string_view phase, std::uint64_t operations) {
    if (observer_.progress)
      observer_.progress(index, phase, operations);
  };
  observer.warning = [this, index](const Error& warning) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && observer_.warning)
      observer_.warning(index, warning);
  };
  return observer;
}

void OutcomeBoard::say(std::size_t index, std::string_view phase) {
  if (observer_.progress)
    observer_.progress(index, phase, 0);
}

void OutcomeBoard::finish(std::size_t index, RankOutcome outcome) {
  outcomes_[index] = std::move(outcome);
  tell(index);
}

void OutcomeBoard::fail(std::size_t index, const Error& error) {
  auto& outcome = outcomes_[index];
  name_target(outcome, targets_[index]);
  outcome.dump.errors.push_back(
      {std::string(error.code), RankError::Level::error, error.message, error.hint});
  tell(index);
}

/// Keeps an exception of the observer for the caller's thread: on another thread it would end the
/// program, and with it the other ranks' dumps.
void OutcomeBoard::tell(std::size_t index) {
  auto& dump = outcomes_[index].dump;
  claim_rank(dump, outcomes_[index].claim);
  if (observer_.ended)
    observer_.ended(index, dump.status);
  const std::lock_guard lock(mutex_);
  if (!observer_.rank_done || thrown_)
    return;
  try {
    observer_.rank_done(dump);
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

std::vector<RankOutcome> OutcomeBoard::take() {
  if (thrown_)
    std::rethrow_exception(thrown_);
  return std::move(outcomes_);
}

} // namespace mqbridge
