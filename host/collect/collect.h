#pragma once

#include "host/dump/document.h"
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
  /// One, or all those on which srun runs it: then srun puts the number of its task in front of
  /// each line.
  std::vector<Node> nodes;
};

struct CollectOptions {
  std::string version;                                     ///< of this program
  Filters filters;                                         ///< that the collectors have been told
  std::chrono::milliseconds greeting{20'000};              ///< a collector greets within that
  std::chrono::milliseconds silence{20'000};               ///< and gives a sign of life as often
  std::chrono::milliseconds a_rank{std::chrono::hours(2)}; ///< and has another rank done
  /// Asked to end it lets its ranks go within that; after as long again it is killed.
  std::chrono::milliseconds ending{6'000};
  std::size_t at_once = 64;                          ///< commands
  std::uint64_t most_bytes = std::uint64_t{4} << 30; ///< of all nodes; each has its share
};

/// Called on the caller's thread.
struct CollectObserver {
  std::function<void(const RankDump& rank)> rank_done;            ///< as it comes; keys are not set
  std::function<void(const std::vector<Node>& nodes)> nodes_done; ///< of one command
  std::function<void()> waiting;                                  ///< again and again
};

/// Runs the collectors and puts together what they send. A node that fails, falls silent or says
/// what nobody can use is an error of the document that names it; what was whole before counts, and
/// no other node waits for it. When it returns none of the commands runs any more, also after
/// `stop` was requested: then the collectors are asked to let their ranks go, and what they still
/// say counts.
Dump collect(const std::vector<Collector>& collectors, const CollectOptions& options,
             const CollectObserver& observer, std::stop_token stop);

} // namespace mqbridge
