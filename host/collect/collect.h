#pragma once

#include "host/dump/values/document.h"
#include "host/launch/node.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

/// A command that runs collectors.
struct Collector {
  std::vector<std::string> argv;
  /// One node; or all nodes on which srun runs the command: then srun puts its task number in front
  /// of each line.
  std::vector<Node> nodes;
};

struct CollectOptions {
  std::string version;                        ///< of this program
  Filters filters;                            ///< the filters that the collectors have got
  std::chrono::milliseconds greeting{20'000}; ///< for a collector's greeting
  std::chrono::milliseconds silence{20'000};  ///< between two signs of life
  std::chrono::milliseconds a_rank{std::chrono::hours(2)}; ///< between two ranks
  /// A collector that is asked to end lets its ranks go within this time; after as long again it is
  /// killed.
  std::chrono::milliseconds ending{6'000};
  std::size_t at_once = 64;                          ///< commands
  std::uint64_t most_bytes = std::uint64_t{4} << 30; ///< for all nodes; each has its share
};

/// Hears how collecting goes, on the caller's thread.
struct CollectObserver {
  std::function<void(const RankDump& rank)> rank_done;            ///< as it comes; keys are not set
  std::function<void(const std::vector<Node>& nodes)> nodes_done; ///< of one command
  std::function<void()> waiting;                                  ///< again and again
};

/// Runs the collectors and merges their results. If a node fails, falls silent or sends something
/// that makes no sense, an error of the document names it; its complete results count, and no other
/// node waits for it. When it returns none of the commands runs any more, also after `stop` was
/// requested: then the collectors are asked to let their ranks go, and the results that they still
/// send count.
Dump collect(const std::vector<Collector>& collectors, const CollectOptions& options,
             const CollectObserver& observer, std::stop_token stop);

} // namespace mqbridge
