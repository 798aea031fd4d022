#pragma once

#include "host/dump/known_files.h"
#include "host/dump/replay_records.h"
#include "host/dump/take_dump.h"
#include "host/files/file_fetcher.h"
#include "host/launch/launchers.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/walk_budget.h"
#include "host/process/elf_cache.h"
#include "host/stacks/frame_names.h"
#include "rsp/guardian/guardian.h"

#include <atomic>
#include <chrono>

namespace mqbridge {

class SysrootCaches;

/// Tools that all ranks of one dump share. References outlive the ranks.
struct SharedTools {
  const DumpOptions& options;
  ElfCache& files;
  FileFetcher& fetcher;
  rsp::Guardian& guardian;
  Launchers& launchers;
  ReplayRecords* replays = nullptr;  ///< null: nothing is known of earlier dumps, nor kept
  KnownFiles* known_files = nullptr; ///< null: as with `replays`
  RunBudget* budget = nullptr; ///< memory for the results of all ranks; null: there is one rank
  SysrootCaches* sysroots = nullptr; ///< null: no target has sysroots of its own
  FrameNames* frame_names = nullptr; ///< null: each rank reads all names itself
  JobWorkers* job_workers = nullptr; ///< null: each process is the only one of its job
  /// For targets that are all held at once: the stop of the first one, from which --max-stop counts
  /// for each. Null: it counts from each target's own stop.
  const std::atomic<std::chrono::steady_clock::time_point>* first_stop = nullptr;
};

} // namespace mqbridge
