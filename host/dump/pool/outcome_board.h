#pragma once

#include "host/dump/rank/rank_outcome.h"
#include "host/dump/take_dump.h"

#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

namespace mqbridge {

/// Collects the outcomes of many targets, each at its target's index, and tells the observer of
/// them. Any thread.
class OutcomeBoard {
public:
  /// Both outlive it.
  OutcomeBoard(std::span<const TargetSpec> targets, const DumpObserver& observer)
      : targets_(targets), observer_(observer), outcomes_(targets.size()) {}

  /// The observer for the dump of one target. This object must outlive it.
  RankObserver observer_of(std::size_t index);
  /// Reports the phase of a target whose dump has not begun.
  void say(std::size_t index, std::string_view phase);

  void finish(std::size_t index, RankOutcome outcome);
  /// The target could not be reached.
  void fail(std::size_t index, const Error& error);

  /// To be called when no thread works any more. Throws the observer's exception, if it threw one.
  std::vector<RankOutcome> take();

private:
  void tell(std::size_t index);

  std::span<const TargetSpec> targets_;
  const DumpObserver& observer_;
  std::vector<RankOutcome> outcomes_;
  std::mutex mutex_;          ///< held during calls to the observer that may block
  std::exception_ptr thrown_; ///< an exception of the observer
};

} // namespace mqbridge
