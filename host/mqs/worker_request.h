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

/// What a worker needs to ask a debug DLL about one stopped process, whatever it asks. References
/// outlive the worker.
struct WorkerRequest {
  std::filesystem::path worker; ///< the binary `mqbridge-worker`
  std::filesystem::path dll;
  AddressSpace space;
  std::string process_name = {};     ///< for a %s in the DLL's messages
  std::int64_t world_rank_hint = -1; ///< what get_global_rank answers
  /// What is found takes its memory from there. Null: as much as there is.
  RankBudget* budget = nullptr;
  /// For the worker alone: the parent's clock less the time spent on its requests.
  std::chrono::milliseconds cpu_limit{60'000};
  /// Called once, while the worker loads the DLL: what else is to be read of the process costs
  /// less of its time then. It does not count as the worker's. May be null.
  std::function<void()> meanwhile = {};
  /// What was found so far, operations or handles. May be null.
  std::function<void(std::uint64_t found)> progress = {};
  /// Ends the work where it is (--max-stop); what is unfinished is truncated_by max_stop. A read
  /// that Memory has begun is not interrupted.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// The same, for --max-walk: truncated_by time.
  std::optional<std::chrono::steady_clock::time_point> walk_end = {};
  std::stop_token stop = {}; ///< the same, by the user: failure "interrupted"
  /// false (--no-sandbox): the DLL runs without system call filters.
  bool sandboxed = true;
  /// The pages that `space.memory` keeps: what is there costs the DLL no system call. Null: each of
  /// its fetches goes to the memory as it was made.
  PageStore* store = nullptr;
  /// A worker that was started while the target still ran (WorkerProcess::start(), on this very
  /// thread), for this one work. Null, or dead meanwhile: a fresh one is started.
  WorkerProcess* started = nullptr;
  /// Whose worker does the work, where the DLL turns out to be of level 3. Null: the process is the
  /// only one of its job.
  const JobOfWalk* job = nullptr;
  /// `dll` as the loading policy saw it. nullopt: whatever lies at that path is loaded.
  std::optional<CheckedDll> checked = {};
};

/// What is to be said of a worker's work, whatever it asked.
struct WorkerOutcome {
  std::string dll_version;
  int dll_compatibility = 0;
  std::uint64_t fetches = 0; ///< fetch callbacks that the DLL made
  std::uint64_t fetch_bytes = 0;
  /// dprints, and what the DLL wrote on its stdout and stderr. Bounded, fit to be shown.
  std::vector<std::string> dll_messages;
  std::optional<std::string> sandbox_gap; ///< why Landlock did not hold; fit to be shown
  /// A worker of the job has ended early before: the DLL does not know of all processes that it was
  /// asked about.
  bool job_lost = false;
  /// core.left_out, walk.unreadable: nothing is known to be whole, even where the DLL says so.
  std::optional<Error> left_out;
  std::optional<Error> failure; ///< what ended it early; what was found until then is kept
};

} // namespace mqbridge
