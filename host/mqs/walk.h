#pragma once

#include "host/memory/page_store.h"
#include "host/mqs/checked_dll.h"
#include "host/mqs/queues.h"
#include "host/mqs/walk_budget.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

class WorkerProcess;

/// Operations of a rank: four full queues of --max-operations, which shortens queues and no rank:
/// with a small one there are as many as without.
constexpr std::uint64_t most_operations_of_rank(std::uint64_t max_operations) {
  constexpr std::uint64_t queues = 4;
  constexpr std::uint64_t usual = 10'000'000;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / queues;
  return queues * std::clamp(max_operations, usual, most);
}

/// One walk of all queues of one stopped process. References outlive the call.
struct WalkRequest {
  std::filesystem::path worker; ///< the binary `mqbridge-worker`
  std::filesystem::path dll;
  AddressSpace space;
  std::string process_name = {};             ///< for a %s in the DLL's messages
  std::int64_t world_rank_hint = -1;         ///< what get_global_rank answers
  std::vector<OpClass> op_classes = {};      ///< queues to walk; the others stay not_requested
  std::uint64_t max_operations = 10'000'000; ///< per queue
  /// Of all queues: more end the walk.
  std::uint64_t max_rank_operations = most_operations_of_rank(0);
  /// What is found takes its memory from there. Null: as much as there is.
  RankBudget* budget = nullptr;
  /// For the worker alone: the parent's clock less the time spent on its requests.
  std::chrono::milliseconds cpu_limit{60'000};
  /// Called for each operation; false drops it (it still counts in Queue::total). Null: all are
  /// kept.
  std::function<bool(const Communicator&, OpClass, const Operation&)> keep = {};
  /// Called once, while the worker loads the DLL: what else is to be read of the process costs
  /// less of its time then. It does not count as the worker's. May be null.
  std::function<void()> meanwhile = {};
  /// Operations so far, of this process. May be null.
  std::function<void(std::uint64_t operations)> progress = {};
  /// Ends the walk where it is (--max-stop); what is unfinished is truncated_by max_stop. A read
  /// that Memory has begun is not interrupted.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// The same, for --max-walk: truncated_by time.
  std::optional<std::chrono::steady_clock::time_point> walk_end = {};
  std::stop_token stop = {}; ///< the same, by the user: failure "interrupted"
  /// What mqs_image_has_queues says when it succeeds: MPICH's DLL leaves its refusal there.
  bool ignore_welcome = false;
  /// false (--no-sandbox): the DLL runs without system call filters.
  bool sandboxed = true;
  /// The pages that `memory` keeps: what is there costs the DLL no system call. Null: each of its
  /// fetches goes to `memory` as it was made.
  PageStore* store = nullptr;
  /// A worker that was started while the target still ran (WorkerProcess::start(), on this very
  /// thread), for this one walk. Null, or dead meanwhile: a fresh one is started.
  WorkerProcess* started = nullptr;
  /// `dll` as the loading policy saw it. nullopt: whatever lies at that path is loaded.
  std::optional<CheckedDll> checked = {};
};

struct WalkResult {
  std::string dll_version;
  int dll_compatibility = 0;
  std::vector<Communicator> communicators; ///< not repaired yet: see repairs.h
  std::uint64_t fetches = 0;               ///< fetch callbacks that the DLL made
  std::uint64_t fetch_bytes = 0;
  /// dprints, and what the DLL wrote on its stdout and stderr. Bounded, fit to be shown.
  std::vector<std::string> dll_messages;
  std::optional<std::string> sandbox_gap; ///< why Landlock did not hold; fit to be shown
  /// core.left_out, walk.unreadable: no queue is known to be whole, even where the DLL says so.
  std::optional<Error> left_out;
  std::optional<Error> failure; ///< what ended the walk early; what was found until then is kept
};

/// Starts a fresh worker, loads the DLL there, walks, and reads back. Never throws, never hangs: a
/// worker that dies or overruns is a `failure` naming the DLL, its function and the last callback.
/// Operations come with ranks and tags already sign-extended and translated (interpret.h), so that
/// `keep` sees true values; the statuses are the DLL's until repair() has read them again. Call it
/// on the thread that reads `memory`. Failure codes: worker.start, dll.load, dll.untrusted (another
/// file than the one `checked`), dll.missing_function, dll.version, dll.width, dll.no_queues (with
/// the DLL's message), dll.failed (another function's error code, with its text), dll.limit,
/// dll.crashed, dll.timeout, dll.forbidden (a system call), sandbox.unavailable, dll.protocol,
/// walk.max_stop, walk.max_walk, walk.max_operations, walk.max_bytes, interrupted, and errors of
/// Memory.
WalkResult walk_queues(const WalkRequest& request);

} // namespace mqbridge
