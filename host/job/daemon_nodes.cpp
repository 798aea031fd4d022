#include "host/job/daemon_nodes.h"

#include "host/job/job_book.h"
#include "host/job/slurm_nodes.h"
#include "host/limits.h"
#include "rsp/packet/printable.h"

#include <algorithm>

namespace mqbridge {
namespace {

std::vector<std::string> hosts_of_slurm_job(const std::string& job,
                                            std::vector<FindTrouble>& faults) {
  std::vector<std::string> hosts;
  auto found = find_slurm_nodes({job, std::nullopt}, Launcher::srun);
  if (!found)
    faults.push_back({"job " + job, std::move(found.error())});
  else
    for (const Node& node : found->nodes)
      if (node.launcher != Launcher::local) // that one is looked at anyhow
        hosts.push_back(node.host);
  return hosts;
}

} // namespace

bool descends(std::span<const std::int64_t> ancestors, std::int64_t pid) {
  return std::ranges::find(ancestors, pid) != ancestors.end();
}

/// On its own node the launcher's are those that descend from it; elsewhere they say its jobs.
bool DaemonNodes::is_launchers(const Node& node, const DaemonStart& start) const {
  return node == launcher_.node ? descends(start.ancestors, launcher_.pid)
                                : daemons_.contains(start.command.jobs);
}

bool DaemonNodes::start(std::string_view job) const {
  return std::ranges::any_of(daemons_,
                             [&](const auto& each) { return job.starts_with(each.first); });
}

bool DaemonNodes::all_are_known() const {
  return !daemons_.empty() && std::ranges::all_of(daemons_, [](const auto& each) {
    return each.second.hosts.size() + 1 >= each.second.count;
  });
}

Result<Node> DaemonNodes::node_of(const std::string& host, const DaemonStart& start) const {
  if (!start.slurm_job.empty() && reached_by_.value_or(Launcher::srun) == Launcher::srun)
    return other_node(host, Launcher::srun, start.slurm_job);
  return TableNodes{launcher_, reached_by_.value_or(Launcher::ssh)}.find(host);
}

std::vector<Node> DaemonNodes::started_from(std::span<const Node> nodes,
                                            std::span<const NodeScan> scans,
                                            std::vector<FindTrouble>& faults) {
  std::vector<Node> found;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& start : scans[i].daemon_starts) {
      if (!is_launchers(nodes[i], start))
        continue;
      auto& daemons = daemons_[start.command.jobs];
      daemons.count = std::max(daemons.count, start.command.daemons);
      auto hosts = start.hosts;
      if (hosts.empty() && !start.slurm_job.empty() && daemons.hosts.empty())
        hosts = hosts_of_slurm_job(start.slurm_job, faults); // all of its nodes: srun names none
      for (const auto& host : hosts) {
        if (daemons.hosts.size() == limits::slurm_nodes || !daemons.hosts.insert(host).second)
          continue;
        if (auto node = node_of(host, start))
          found.push_back(std::move(*node));
        else
          faults.push_back({readable(host), node.error()});
      }
    }
  return found;
}

} // namespace mqbridge
