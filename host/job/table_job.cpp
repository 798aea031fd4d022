#include "host/job/table_job.h"

#include "host/disk/file_name.h"
#include "host/job/job_book.h"
#include "host/mpi/launcher_programs.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

/// The process that is the rank of this entry: the entry's own, or a descendant of it if that one
/// is a script.
const ScannedRank* find_rank(const NodeScan& scan, const ProctableEntry& entry) {
  for (const auto& rank : scan.ranks)
    if (rank.pid == entry.pid)
      return &rank;
  for (const auto& rank : scan.ranks)
    if (rank.environment.rank == entry.rank &&
        std::ranges::find(rank.ancestors, entry.pid) != rank.ancestors.end())
      return &rank;
  return nullptr;
}

/// The job's name that the scanned ranks say; empty: they do not agree.
std::string name_by_ranks(const std::vector<const ScannedRank*>& known) {
  std::string name;
  for (const auto* rank : known) {
    if (rank == nullptr)
      continue;
    if (!name.empty() && name != rank->job)
      return {};
    name = rank->job;
  }
  return name;
}

} // namespace

Result<Node> TableNodes::find(std::string_view host) const {
  const bool is_own =
      !own_name.empty() && (host == own_name || host == own_name.substr(0, own_name.find('.')));
  if (is_loopback(host) || host == launcher.node.name() || is_own)
    return launcher.node;
  if (const auto node = std::ranges::find(known, host, &Node::host); node != known.end())
    return *node;
  const auto& job = launcher.node.slurm_job;
  if (reached_by == Launcher::srun && job.empty())
    return fail("mpirun.no_slurm_job",
                "its table does not say in which job of Slurm the nodes are that srun is to reach",
                "name the job instead: --slurm JOB[.STEP]; or reach the nodes by --launcher ssh");
  const auto within = reached_by == Launcher::srun ? job : std::string();
  // In the table of another computer, this computer's name may be the name of a different one.
  const bool from_here = launcher.node.launcher == Launcher::local;
  return from_here ? node_named(host, reached_by, within) : other_node(host, reached_by, within);
}

std::vector<Node> nodes_of(const Proctable& table, const TableNodes& names) {
  std::set<std::string_view> hosts;
  std::set<Node> nodes;
  for (const auto& entry : table.entries)
    if (hosts.insert(entry.host).second)
      if (auto node = names.find(entry.host))
        nodes.insert(std::move(*node));
  return {nodes.begin(), nodes.end()};
}

bool has_scripts(const Proctable& table) {
  constexpr auto shells =
      std::to_array<std::string_view>({"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh"});
  return std::ranges::any_of(table.entries, [&](const ProctableEntry& entry) {
    const auto program = file_name(entry.executable);
    return program.ends_with("sh") &&
           std::ranges::find(shells, program.substr(program.rfind('.') + 1)) != shells.end();
  });
}

FoundJob job_of_table(const Proctable& table, const TableNodes& names,
                      const std::map<Node, NodeScan>& scans, std::vector<FindTrouble>& faults) {
  const auto& launcher = names.launcher;
  std::map<std::string, Result<Node>, std::less<>> nodes;
  std::vector<std::pair<const ProctableEntry*, const Node*>> entries;
  std::vector<const ScannedRank*> known;
  for (const auto& entry : table.entries) {
    auto node = nodes.find(entry.host);
    if (node == nodes.end()) {
      node = nodes.emplace(entry.host, names.find(entry.host)).first;
      if (!node->second)
        faults.push_back({readable(entry.host), node->second.error()});
    }
    if (!node->second)
      continue;
    entries.emplace_back(&entry, &*node->second);
    const auto scan = scans.find(*node->second);
    known.push_back(scan != scans.end() ? find_rank(scan->second, entry) : nullptr);
  }
  FoundJob job;
  job.size = static_cast<std::int64_t>(table.size);
  job.name = name_by_ranks(known);
  if (job.name.empty())
    job.name = fmt::format("mpirun-{}@{}", launcher.pid, launcher.node.name());
  job.arguments = {"--mpirun", launcher_value(launcher.node, launcher.pid)};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [entry, node] = entries[i];
    const auto* const rank = known[i];
    const auto pid = rank != nullptr ? rank->pid : entry->pid;
    FoundRank found;
    found.target = target_of(*node, pid, entry->rank, RankSource::proctable, job.name);
    found.node = shown_name(*node);
    found.pid = pid;
    found.executable = rank != nullptr ? rank->executable : entry->executable;
    found.user = rank != nullptr ? rank->user : std::string();
    found.mpi = rank != nullptr ? rank->mpi : std::string();
    job.ranks.push_back(std::move(found));
  }
  return job;
}

std::optional<std::string_view> daemons_in(const Proctable& table) {
  const auto is_daemon = [](const ProctableEntry& entry) {
    return launcher_role(file_name(entry.executable).substr(0, kept_name_bytes)) ==
           LauncherRole::daemon;
  };
  if (table.entries.empty() || !std::ranges::all_of(table.entries, is_daemon))
    return std::nullopt;
  return file_name(table.entries.front().executable);
}

} // namespace mqbridge
