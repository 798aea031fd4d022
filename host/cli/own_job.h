#pragma once

#include "host/cli/commands.h"
#include "host/watch/job_processes.h"

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// What was seen of a job that this program has started.
struct OwnJobLook {
  std::optional<Dump> dump; ///< nullopt: nothing could be looked at; why: `troubles`
  bool has_ranks = false;   ///< and `dump` an analysis; else it has the stacks of all processes
  std::vector<Error> troubles = {};
};

/// Looks at the ranks of the job whose processes these are, once more `command.verdict.again`
/// later, and analyzes what it has seen. Where there is no rank, it looks at the stacks of the
/// processes. `options`: those of the command, complete. When it returns nothing is held.
OwnJobLook look_at_own_job(const DumpCommand& command, const DumpOptions& options,
                           std::span<const JobProcess> processes, const std::stop_token& stop);

} // namespace mqbridge
