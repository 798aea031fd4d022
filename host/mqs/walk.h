#pragma once

#include "host/mqs/queues.h"
#include "host/mqs/worker_request.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace mqbridge {

/// Most operations of a rank: as many as four queues of --max-operations. --max-operations shortens
/// queues, and must not shorten ranks: a small value leaves this limit as it is by default.
constexpr std::uint64_t most_operations_of_rank(std::uint64_t max_operations) {
  constexpr std::uint64_t queues = 4;
  constexpr std::uint64_t usual = 10'000'000;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / queues;
  return queues * std::clamp(max_operations, usual, most);
}

/// One walk of all queues of one stopped process. References outlive the call.
struct WalkRequest : WorkerRequest {
  std::vector<OpClass> op_classes = {};      ///< queues to walk; the others stay not_requested
  std::uint64_t max_operations = 10'000'000; ///< per queue
  /// For all queues together: more operations end the walk.
  std::uint64_t max_rank_operations = most_operations_of_rank(0);
  /// How many requests the MPI library has at all. A DLL that lists more of them goes round in a
  /// list without an end: that is an error. nullopt: not known.
  std::optional<std::uint64_t> requests = {};
  /// Called for each operation; false drops it (it still counts in Queue::total). Null: all are
  /// kept.
  std::function<bool(const Communicator&, OpClass, const Operation&)> keep = {};
  /// Ignore the message of mqs_image_has_queues if it succeeds: MPICH's DLL leaves an old refusal
  /// there.
  bool ignore_welcome = false;
};

struct WalkResult : WorkerOutcome {
  std::vector<Communicator> communicators; ///< not repaired yet: see repairs.h
};

/// Starts a fresh worker, loads the DLL there, walks, and takes the results. If the DLL is of level
/// 3, it waits for the worker of the process's job, and asks that one. Never throws, never hangs: a
/// worker that dies or overruns is a `failure` that names the DLL, its function and the last
/// callback.
/// Operations come with ranks and tags already sign-extended and translated (interpret.h), so that
/// `keep` sees true values; the statuses are the DLL's until repair() has read them again. Call it
/// on the thread that reads `memory`. Failure codes: worker.start, dll.load, dll.untrusted (another
/// file than the one `checked`), dll.missing_function, dll.version, dll.width, dll.no_queues (with
/// the DLL's message), dll.failed (another function's error code, with its text), dll.limit,
/// dll.crashed, dll.timeout, dll.forbidden (a system call), sandbox.unavailable, dll.protocol,
/// walk.max_stop, walk.max_walk, walk.max_operations, walk.max_bytes, queue.damaged (more
/// operations than `requests`), interrupted, and errors of Memory.
WalkResult walk_queues(const WalkRequest& request);

} // namespace mqbridge
