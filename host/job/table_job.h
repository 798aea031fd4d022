#pragma once

#include "host/job/findings.h"
#include "host/job/job_request.h"
#include "host/job/node_scan.h"
#include "host/job/proctable.h"
#include "host/launch/node.h"
#include "rsp/result.h"

#include <map>
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

/// The nodes of its entries, each once, as far as they can be reached.
std::vector<Node> nodes_of(const Proctable& table, const TableNodes& names);

/// Whether some of its programs are scripts by their names: what they have started is the rank.
bool has_scripts(const Proctable& table);

/// The job that a launcher's table lists. `scans`: what was found on some of its nodes, which says
/// the MPI, the user and the job's name of the ranks there, and which child of a script is the
/// rank. Entries that lead to no process are left out and become faults.
FoundJob job_of_table(const Proctable& table, const TableNodes& names,
                      const std::map<Node, NodeScan>& scans, std::vector<FindTrouble>& faults);

/// The name of the program whose daemons, and no ranks, the table lists: srun, where mpirun has
/// started its own daemons by it. nullopt: these are ranks.
std::optional<std::string_view> daemons_in(const Proctable& table);

} // namespace mqbridge
