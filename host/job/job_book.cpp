#include "host/job/job_book.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

/// Process ids in one argument: a line that people can paste.
constexpr std::size_t most_pids = 256;

/// "4711", "ssh:n17:4711": the launcher that all these ranks descend from.
template <class Ranks>
std::optional<std::string> common_launcher(const Ranks& ranks) {
  std::set<std::string> launchers;
  for (const auto& rank : ranks) {
    const auto* const front = front_of(rank.scanned);
    if (front == nullptr)
      return std::nullopt;
    launchers.insert(launcher_value(rank.node, front->pid));
  }
  return launchers.size() == 1 ? std::optional(*launchers.begin()) : std::nullopt;
}

/// "77.0": the Slurm step that all these ranks run in, where nothing else does.
template <class Ranks>
std::optional<std::string> common_step(const Ranks& ranks) {
  std::set<std::string> steps;
  for (const auto& rank : ranks) {
    const auto& environment = rank.scanned.environment;
    if (!environment.slurm_job || !environment.slurm_step)
      return std::nullopt;
    steps.insert(fmt::format("{}.{}", *environment.slurm_job, *environment.slurm_step));
  }
  return steps.size() == 1 ? std::optional(*steps.begin()) : std::nullopt;
}

} // namespace

std::string launcher_value(const Node& node, std::int64_t pid) {
  return node.launcher == Launcher::local ? fmt::to_string(pid) : node.target(pid);
}

const LauncherProcess* front_of(const ScannedRank& rank) {
  const auto front = std::ranges::find_if(rank.launchers, [](const LauncherProcess& launcher) {
    return launcher.role == LauncherRole::front;
  });
  return front != rank.launchers.end() ? &*front : nullptr;
}

std::string shown_name(const Node& node) {
  return node.launcher == Launcher::local ? std::string() : node.name();
}

TargetSpec target_of(const Node& node, std::int64_t pid, std::optional<std::int64_t> rank,
                     RankSource source, const std::string& job) {
  TargetSpec target;
  if (auto parsed = TargetSpec::parse(node.target(pid)))
    target = std::move(*parsed);
  if (rank && *rank <= std::numeric_limits<int>::max())
    target.rank = static_cast<int>(*rank);
  target.rank_source = source;
  if (!job.empty())
    target.keys.job = job;
  return target;
}

void JobBook::add(const Node& node, ScannedRank rank) {
  auto& ranks = jobs_[rank.job];
  ranks.push_back({node, std::move(rank)});
}

FoundRank JobBook::found(const std::string& job, const Rank& rank) {
  const auto& scanned = rank.scanned;
  return {target_of(rank.node, scanned.pid, scanned.environment.rank, RankSource::environ, job),
          shown_name(rank.node),
          scanned.pid,
          scanned.executable,
          scanned.user,
          scanned.mpi};
}

std::vector<std::string> JobBook::arguments(const std::vector<Rank>& ranks) {
  if (auto launcher = common_launcher(ranks))
    return {"--mpirun", std::move(*launcher)};
  if (auto step = common_step(ranks))
    return {"--slurm", std::move(*step)};
  const bool all_here = std::ranges::all_of(
      ranks, [](const Rank& rank) { return rank.node.launcher == Launcher::local; });
  if (!all_here || ranks.size() > most_pids)
    return {};
  std::string pids;
  for (const auto& rank : ranks)
    pids += fmt::format("{}{}", pids.empty() ? "local:" : ",", rank.scanned.pid);
  return {std::move(pids)};
}

FoundJob JobBook::job_of(const std::string& name, const std::vector<Rank>& ranks) {
  FoundJob job;
  job.name = name;
  job.arguments = arguments(ranks);
  for (const auto& rank : ranks) {
    const auto& size = rank.scanned.environment.size;
    if (size && (!job.size || *job.size < *size))
      job.size = size;
    job.ranks.push_back(found(name, rank));
  }
  std::ranges::stable_sort(job.ranks, {}, [](const FoundRank& rank) { return rank.target.rank; });
  return job;
}

std::vector<FoundJob> JobBook::jobs(std::vector<FindTrouble>& warnings) const {
  std::vector<FoundJob> jobs;
  for (const auto& [name, ranks] : jobs_) {
    auto job = job_of(name, ranks);
    const auto twice = std::ranges::adjacent_find(job.ranks, [](const auto& one, const auto& next) {
      return one.target.rank && one.target.rank == next.target.rank;
    });
    if (twice == job.ranks.end()) {
      jobs.push_back(std::move(job));
      continue;
    }
    warnings.push_back({twice->node,
                        {"rank.twice",
                         fmt::format("rank {} of job {} is there more than once: on several nodes "
                                     "processes say so. What each node has is taken for a job",
                                     twice->target.rank.value_or(-1), name),
                         "two jobs may have the same name; look at one node after the other"}});
    std::map<std::string, std::vector<Rank>> by_node;
    for (const auto& rank : ranks)
      by_node[rank.node.name()].push_back(rank);
    for (const auto& [node, part] : by_node)
      jobs.push_back(job_of(fmt::format("{}@{}", name, node), part));
  }
  return jobs;
}

void say_missing_ranks(const std::vector<FoundJob>& jobs, std::vector<FindTrouble>& faults,
                       std::string_view code, std::string_view target) {
  for (const auto& job : jobs)
    if (job.size && std::cmp_less(job.ranks.size(), *job.size))
      faults.push_back({"",
                        {code,
                         fmt::format("{} of the {} ranks of job {} were found", job.ranks.size(),
                                     *job.size, job.name),
                         fmt::format("the others may have ended, or have no MPI library mapped; "
                                     "name those yourself: {}",
                                     target)},
                        static_cast<std::size_t>(*job.size) - job.ranks.size()});
}

} // namespace mqbridge
