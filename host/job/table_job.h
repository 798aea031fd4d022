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

/// The node that a launcher's table means by `host`. "localhost", and the name of the node that the
/// launcher runs on, are that node; others are reached by `launcher`. Errors:
/// node.name, mpirun.no_slurm_job.
Result<Node> node_of_entry(std::string_view host, const Node& of_launcher, Launcher launcher);

/// The job that a launcher's table lists. `here`: what was found on this host, which says the MPI,
/// the user and the job's name of those ranks that are there, and which child of a wrapper script
/// is the rank; nullptr: not looked at. Entries that lead to no process are left out and become
/// faults.
FoundJob job_of_table(const Proctable& table, const NodeProcess& launcher, Launcher reached_by,
                      const NodeScan* here, std::vector<FindTrouble>& faults);

/// Whether any of its ranks is on this host.
bool has_ranks_here(const Proctable& table, const NodeProcess& launcher, Launcher reached_by);

/// The name of the program whose daemons, and no ranks, the table lists: srun, where mpirun has
/// started its own daemons by it. nullopt: these are ranks.
std::optional<std::string_view> daemons_in(const Proctable& table);

} // namespace mqbridge
