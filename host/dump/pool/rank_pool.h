#pragma once

#include "host/dump/pool/outcome_board.h"
#include "host/dump/pool/server_groups.h"
#include "host/dump/take_dump.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// Dumps many targets at once, on at most --jobs threads. Targets behind one stub are taken in
/// turn. The targets of a node have up to servers_a_node servers, and each server takes targets in
/// turn: this is a lane. The first lane goes ahead; if it does not reach the node, none of the
/// node's targets is tried again.
class RankPool {
public:
  /// All outlive it.
  RankPool(std::span<const TargetSpec> targets, const SharedTools& tools,
           const DumpObserver& observer, std::stop_token stop);

  /// Each outcome at its target's index. Throws the observer's exception when all targets are
  /// released.
  std::vector<RankOutcome> run();

private:
  struct Work {
    ServerGroup group;
    std::size_t taken = 0; ///< number of its targets that a lane has taken
    std::size_t lanes = 0; ///< number of lanes at work
    bool reached = false;  ///< the node was reached: further lanes were added
  };

  void take_lanes();
  /// Takes targets until there are none, or until this lane gets no server while other lanes have
  /// one.
  void take_lane(Work& work);
  std::optional<std::size_t> next_of(Work& work);
  /// Gets a server for target `index`: the one of the target before, or another one. False: the
  /// target was given back, or failed; if its node is not reached, all targets there fail.
  bool reach(Work& work, std::size_t index, std::shared_ptr<rsp::SharedStub>& stub);
  /// The first lane has reached the node: adds lanes for the remaining targets.
  void add_lanes(Work& work);
  void take(std::size_t index, std::shared_ptr<rsp::SharedStub>& stub);

  std::span<const TargetSpec> targets_;
  const SharedTools& tools_;
  OutcomeBoard board_;
  std::stop_token stop_;

  std::mutex mutex_; ///< guards the members below
  std::condition_variable changed_;
  std::deque<Work> work_;
  std::deque<Work*> lanes_; ///< that no thread has taken yet
  std::size_t working_ = 0; ///< number of threads that have a lane
};

} // namespace mqbridge
