#pragma once

#include "host/memory/page_store.h"
#include "host/mqs/checked_dll.h"
#include "host/mqs/walk_budget.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

class WorkerProcess;
struct JobOfWalk;

/// Everything that a worker needs to ask a debug DLL about one stopped process, whatever the
/// question is. References outlive the worker.
struct WorkerRequest {
  std::filesystem::path worker; ///< the binary `mqbridge-worker`
  std::filesystem::path dll;
  AddressSpace space;
  std::string process_name = {};     ///< for a %s in the DLL's messages
  std::int64_t world_rank_hint = -1; ///< what get_global_rank answers
  /// Memory for the results is taken from here. Null: as much as there is.
  RankBudget* budget = nullptr;
  /// The limit for the worker's own time: the parent's clock less the time spent on its requests.
  std::chrono::milliseconds cpu_limit{60'000};
  /// Gets the number of operations or handles found so far. May be null.
  std::function<void(std::uint64_t found)> progress = {};
  /// Ends the work at this moment (--max-stop); unfinished queues are truncated_by max_stop. A read
  /// that Memory has begun is not interrupted.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// The same, for --max-walk: truncated_by time.
  std::optional<std::chrono::steady_clock::time_point> walk_end = {};
  std::stop_token stop = {}; ///< the same, by the user: failure "interrupted"
  /// false (--no-sandbox): the DLL runs without system call filters.
  bool sandboxed = true;
  /// The pages that `space.memory` keeps: the DLL reads them without a system call. Null: each of
  /// its fetches goes to the memory as it was made.
  PageStore* store = nullptr;
  /// A worker for this one work, started while the target still ran (WorkerProcess::start(), on
  /// this very thread). Null, or dead meanwhile: a fresh one is started.
  WorkerProcess* started = nullptr;
  /// The job, if a worker of level 3 may serve several of its processes. Null: the process counts
  /// as the only one of its job.
  const JobOfWalk* job = nullptr;
  /// The file of `dll` that the loading policy saw. nullopt: whatever lies at that path is loaded.
  std::optional<CheckedDll> checked = {};
};

/// The facts about a worker's work, whatever the question was.
struct WorkerOutcome {
  std::string dll_version;
  int dll_compatibility = 0;
  std::uint64_t fetches = 0; ///< fetch callbacks that the DLL made
  std::uint64_t fetch_bytes = 0;
  /// dprints, and what the DLL wrote on its stdout and stderr. Bounded, fit to be shown.
  std::vector<std::string> dll_messages;
  std::optional<std::string> sandbox_gap; ///< why Landlock did not hold; fit to be shown
  /// A worker of the job has ended early before: the DLL does not know all processes of the job
  /// about which it was asked.
  bool job_lost = false;
  /// core.left_out, walk.unreadable: no queue is known to be whole, even if the DLL says so.
  std::optional<Error> left_out;
  std::optional<Error> failure; ///< what ended it early; results found until then are kept
};

} // namespace mqbridge
