#pragma once

#include "host/dump/outcome_board.h"
#include "host/dump/server_groups.h"
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
/// turn. Those of a node have up to servers_a_node servers, each of which takes them in turn: a
/// lane. The first of them goes ahead; where it does not reach the node, none of its targets is
/// tried again.
class RankPool {
public:
  /// All outlive it.
  RankPool(std::span<const TargetSpec> targets, const SharedTools& tools,
           const DumpObserver& observer, std::stop_token stop);

  /// Each outcome at its target's index. What the observer throws comes out of this, when all
  /// targets are released.
  std::vector<RankOutcome> run();

private:
  struct Work {
    ServerGroup group;
    std::size_t taken = 0; ///< of its targets, by some lane
    std::size_t lanes = 0; ///< at work
    bool reached = false;  ///< its node: further lanes were added
  };

  void take_lanes();
  /// Takes targets until there are none, or no server is to be had for this lane while others have
  /// theirs.
  void take_lane(Work& work);
  std::optional<std::size_t> next_of(Work& work);
  /// A server for target `index`: the one of the target before, or another one. False: the target
  /// was given back, or has its error, as have all others of a node that is not reached.
  bool reach(Work& work, std::size_t index, std::shared_ptr<rsp::SharedStub>& stub);
  /// The first lane has reached the node: more of them for what is left to do.
  void add_lanes(Work& work);
  void take(std::size_t index, std::shared_ptr<rsp::SharedStub>& stub);

  std::span<const TargetSpec> targets_;
  const SharedTools& tools_;
  OutcomeBoard board_;
  std::stop_token stop_;

  std::mutex mutex_; ///< of what follows
  std::condition_variable changed_;
  std::deque<Work> work_;
  std::deque<Work*> lanes_; ///< that no thread has taken yet
  std::size_t working_ = 0; ///< threads that have one
};

} // namespace mqbridge
