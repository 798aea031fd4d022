#pragma once

#include "host/cli/arguments/commands.h"
#include "host/watch/job_processes.h"

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// The results for a job that this program has started.
struct OwnJobLook {
  std::optional<Dump> dump; ///< nullopt: nothing could be looked at; `troubles` say why
  bool has_ranks = false;   ///< `dump` has ranks, and an analysis; else stacks of the processes
  std::vector<Error> troubles = {};
};

/// Looks at the ranks of the job with these processes, and once more after `command.verdict.again`,
/// and analyzes the results. If there is no rank, it looks at the stacks of the processes.
/// `options`: those of the command, complete. When it returns nothing is held.
OwnJobLook look_at_own_job(const DumpCommand& command, const DumpOptions& options,
                           std::span<const JobProcess> processes, const std::stop_token& stop);

} // namespace mqbridge
