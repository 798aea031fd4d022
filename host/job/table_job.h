#pragma once

#include "host/job/job_search.h"
#include "host/job/node_scan.h"
#include "host/job/proctable.h"
#include "host/launch/node.h"
#include "rsp/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Finds the nodes that a launcher's table names.
struct TableNodes {
  NodeProcess launcher;
  Launcher reached_by = Launcher::ssh;
  std::vector<Node> known = {}; ///< the nodes of the launcher's job in Slurm; empty: not asked
  /// What the launcher's node calls itself, where the user may have another name for it; empty: not
  /// known.
  std::string own_name = {};

  /// "localhost" and the names of the launcher's node mean that node. Errors: node.name,
  /// mpirun.no_slurm_job.
  Result<Node> find(std::string_view host) const;
};

/// The nodes of its entries, each once, as far as they can be reached.
std::vector<Node> nodes_of(const Proctable& table, const TableNodes& names);

/// Whether some of its programs have names of scripts: then the rank is a process that the script
/// has started.
bool has_scripts(const Proctable& table);

/// The job that a launcher's table lists. `scans`: the results for some of its nodes, which tell
/// the MPI, the user and the job's name of the ranks there, and which child of a script is the
/// rank. Entries that lead to no process are left out and become faults.
FoundJob job_of_table(const Proctable& table, const TableNodes& names,
                      const std::map<Node, NodeScan>& scans, std::vector<FindTrouble>& faults);

/// The name of the program if the table lists its daemons instead of ranks: srun, if mpirun has
/// started its own daemons by it. nullopt: these are ranks.
std::optional<std::string_view> daemons_in(const Proctable& table);

} // namespace mqbridge
