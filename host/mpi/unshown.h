#pragma once

#include "host/mqs/queues.h"
#include "host/stacks/stack.h"
#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mqbridge {

/// What is asked for of what an MPI's memory says and its debug DLL does not show.
struct UnshownRequest {
  std::vector<OpClass> op_classes;           ///< queues that were asked for
  std::uint64_t max_operations = 10'000'000; ///< of each queue
  /// Called for each operation, whose peer is known by then; false drops it (it still counts in
  /// Queue::total). Null: all are kept.
  std::function<bool(const Communicator&, const Operation&)> keep = {};
  /// Takes the memory of one more operation; false: there is none left. Null: as much as there is.
  std::function<bool()> take_memory = {};
};

/// What came of it beside the operations.
struct UnshownOutcome {
  /// types.partial: why nothing can be read; recorder.off, recorder.gaps: why not all is there. To
  /// be said as a warning.
  std::optional<Error> lacking;
  std::optional<Error> damage; ///< queue.damaged, dll.requests_unseen: the first one found
  /// What its threads are in, where the process itself keeps that. Their sites have no names yet.
  std::vector<BlockedCall> calls;
  std::vector<Joint> joints; ///< RankDump::joints
};

} // namespace mqbridge
