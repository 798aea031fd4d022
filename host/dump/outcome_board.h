#pragma once

#include "host/dump/rank_dump.h"
#include "host/dump/take_dump.h"

#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

namespace mqbridge {

/// Where the outcomes of many targets come together, each at its target's index, and whence the
/// observer is told of them. Any thread.
class OutcomeBoard {
public:
  /// Both outlive it.
  OutcomeBoard(std::span<const TargetSpec> targets, const DumpObserver& observer)
      : targets_(targets), observer_(observer), outcomes_(targets.size()) {}

  /// For the dump of a target; outlived by this.
  RankObserver observer_of(std::size_t index);
  /// What is done before there is a dump of the target.
  void say(std::size_t index, std::string_view phase);

  void finish(std::size_t index, RankOutcome outcome);
  /// It was not come by.
  void fail(std::size_t index, const Error& error);

  /// When nobody works any more. What the observer threw comes out of this.
  std::vector<RankOutcome> take();

private:
  void tell(std::size_t index);

  std::span<const TargetSpec> targets_;
  const DumpObserver& observer_;
  std::vector<RankOutcome> outcomes_;
  std::mutex mutex_;          ///< of calls to the observer that may block
  std::exception_ptr thrown_; ///< by the observer
};

} // namespace mqbridge
