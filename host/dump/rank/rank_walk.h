#pragma once

#include "host/dump/take_dump.h"
#include "host/dump/values/document.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/unshown.h"
#include "host/mqs/dll_policy.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/walk_budget.h"
#include "host/mqs/worker_process.h"
#include "host/mqs/worker_request.h"
#include "host/process/stopped_process.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// The parameters for the walk of one rank's queues. References outlive the call.
struct RankWalk {
  const DumpOptions& options;
  StoppedProcess& process;
  const MpiLibrary& mpi;
  const DllChoice* dll = nullptr;   ///< null: mqbridge reads the queues itself
  std::optional<Error> no_dll = {}; ///< why there is none
  std::optional<Error> bypass = {}; ///< the DLL does not see the transport's queues: a warning
  std::int64_t world_rank_hint = -1;
  std::optional<std::chrono::steady_clock::time_point> deadline = {}; ///< of the walk alone
  std::optional<std::chrono::steady_clock::time_point> walk_end = {}; ///< the same, by --max-walk
  RankBudget* budget = nullptr; ///< memory for what is found; null: as much as there is
  std::function<void()> before_repairs =
      {}; ///< called between walk and repairs: the repairs may use the time that the walk left
  std::function<void(std::uint64_t operations)> progress = {};
  std::stop_token stop = {};
  WorkerProcess* worker = nullptr;   ///< started beforehand, for this walk; null: none was
  std::optional<JobOfWalk> job = {}; ///< nullopt: the process's job is not known
};

struct WalkOutcome {
  bool found = false;    ///< at least one communicator, even if filters leave none
  bool bypassed = false; ///< nobody has read the transport's queues
  Warnings warnings;
  std::vector<BlockedCall> calls = {}; ///< UnshownOutcome::calls
  AddFromStacks from_stacks = {};      ///< UnshownOutcome::from_stacks
  Result<void> result;
};

/// Has the debug DLL walk the queues, or reads them itself, repairs what the DLL says, checks and
/// filters it: fills dll, communicators, world_rank, world_size and the fetches of `dump`. The
/// target must stand still. Errors: those of walk_queues() and repair(), core.left_out,
/// walk.unreadable, walk.implausible.
WalkOutcome walk_rank(const RankWalk& walk, RankDump& dump);

/// The request to a worker that asks a debug DLL about a rank. There must be one.
WorkerRequest worker_request(const RankWalk& walk, const RankDump& dump);

/// Takes over the worker's outcome: fills dll and the fetches of `dump`. Memory that the DLL wanted
/// and that was left out becomes the failure, if there is no other.
void take_outcome(const RankWalk& walk, WorkerOutcome& outcome, RankDump& dump, Warnings& warnings);

} // namespace mqbridge
