#pragma once

#include "host/job/findings.h"
#include "host/job/job_request.h"
#include "host/job/node_scan.h"
#include "host/job/proctable.h"
#include "host/launch/node.h"
#include "rsp/result.h"

#include <optional>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Which nodes a launcher's table means.
struct TableNodes {
  NodeProcess launcher;
  Launcher reached_by = Launcher::ssh;
  std::vector<Node> known = {}; ///< those of the launcher's job in Slurm; empty: not asked

  /// "localhost", and the name of the node that the launcher runs on, are that node. Errors:
  /// node.name, mpirun.no_slurm_job.
  Result<Node> find(std::string_view host) const;
};

/// The job that a launcher's table lists. `here`: what was found on this host, which says the MPI,
/// the user and the job's name of those ranks that are there, and which child of a wrapper script
/// is the rank; nullptr: not looked at. Entries that lead to no process are left out and become
/// faults.
FoundJob job_of_table(const Proctable& table, const TableNodes& names, const NodeScan* here,
                      std::vector<FindTrouble>& faults);

/// Whether any of its ranks is on this host.
bool has_ranks_here(const Proctable& table, const TableNodes& nodes);

/// The name of the program whose daemons, and no ranks, the table lists: srun, where mpirun has
/// started its own daemons by it. nullopt: these are ranks.
std::optional<std::string_view> daemons_in(const Proctable& table);

} // namespace mqbridge
