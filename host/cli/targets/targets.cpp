#include "host/cli/targets/targets.h"

#include "host/codes.h"
#include "host/disk/output_file.h"
#include "host/job/find_ranks.h"
#include "host/job/job_book.h"
#include "host/job/slurm_nodes.h"
#include "host/job/targets_file.h"
#include "host/launch/node_names.h"
#include "host/launch/shell_words.h"
#include "host/report/trouble_groups.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

namespace mqbridge {
namespace {

/// Equal troubles of many nodes become one.
void add_troubles(const std::vector<FindTrouble>& troubles, RankError::Level level,
                  std::vector<RankError>& into) {
  for (const TroubleGroup& group : group_troubles(troubles)) {
    const auto& error = group.example->error;
    std::string where;
    if (group.nodes.size() > 1)
      where = fmt::format("{} ({} nodes): ", node_list_text(group.nodes), group.nodes.size());
    else if (!group.nodes.front().empty())
      where = group.nodes.front() + ": ";
    into.push_back({std::string(error.code), level, where + error.message, error.hint});
  }
}

/// A rank that another process has already is taken from this process; a process counts once.
void add_found(const TargetSpec& target, TargetList& list, std::vector<RankError>& troubles) {
  auto added = list.add(target);
  if (added)
    return;
  auto without_rank = target;
  without_rank.rank.reset();
  const bool is_new = list.add(std::move(without_rank)).has_value();
  troubles.push_back({"rank.twice", RankError::Level::warning,
                      fmt::format("{}: {}; {}", target.text(), added.error().message,
                                  is_new ? "it is looked at as a process without a known rank"
                                         : "it is looked at once"),
                      "two jobs may have the same name; look at one node after the other"});
}

/// The request that finds this job again on all of its nodes; nullopt: its ranks are all there is.
std::optional<JobRequest> request_for(const FoundJob& job, const JobRequest& found_by) {
  JobRequest request;
  request.launcher = found_by.launcher;
  if (job.arguments.size() != 2)
    return std::nullopt;
  if (job.arguments.front() == "--mpirun") {
    if (auto launcher = parse_node_process("local:" + job.arguments.back()))
      request.mpirun = std::move(*launcher);
  } else if (job.arguments.front() == "--slurm") { // from the environment of a process
    if (auto step = parse_slurm_step(job.arguments.back()))
      request.slurm = std::move(*step);
  }
  return request.mpirun || request.slurm ? std::optional(std::move(request)) : std::nullopt;
}

/// A line for a shell; more than one job may have the same.
std::string line_for(const FoundJob& job, const std::string& command) {
  std::vector<std::string> words{"mqbridge", command};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  return job.arguments.empty() ? "mqbridge ranks" : printable(join_words(words));
}

/// What may have been missed, a line each, with what to do about it.
std::string doubts_of(const FoundJobs& findings) {
  std::string doubts;
  for (const auto* troubles : {&findings.faults, &findings.warnings})
    for (const auto& trouble : *troubles)
      doubts += fmt::format("\n{}: {}; {}", trouble.error.code, trouble.error.message,
                            trouble.error.hint);
  return doubts;
}

/// Nothing is named, and there is not one job that can be meant.
Failure no_sole_job(const FoundJobs& findings, const std::string& command) {
  constexpr std::size_t most_lines = 6;
  std::map<std::string, std::string> lines;
  for (const auto& job : findings.jobs)
    lines[line_for(job, command)] += fmt::format("   job {}: {} {}", job.name, job.ranks.size(),
                                                 job.ranks.size() == 1 ? "rank" : "ranks");
  std::string shown;
  for (const auto& [line, jobs] : lines | std::views::take(most_lines))
    shown += (shown.empty() ? "" : "\n     ") + line + jobs;
  if (lines.size() > most_lines)
    shown += fmt::format("\n     and {} more: mqbridge ranks", lines.size() - most_lines);
  if (!lines.empty())
    return fail("job.not_one",
                fmt::format("no target is named, and {}{}",
                            findings.jobs.size() == 1
                                ? "there may be more than the one job that was found here"
                                : fmt::format("{} jobs run here", findings.jobs.size()),
                            doubts_of(findings)),
                shown);
  return fail("job.no_rank",
              "no target is named, and no rank of an MPI job was found on this host" +
                  doubts_of(findings),
              "name processes (local:PID, HOST:PORT, ...) or a job (--mpirun PID, --slurm JOB, "
              "--node HOST, --targets FILE)");
}

/// Adds what the first search could not tell: a rank or a job may be missing because of it. Other
/// users' processes were not meant.
void add_doubts(FoundJobs& findings, const FoundJobs& first) {
  const auto is_told = [&](const FindTrouble& trouble) {
    const auto same = [&](const FindTrouble& told) {
      return told.error.code == trouble.error.code && told.error.message == trouble.error.message;
    };
    return std::ranges::any_of(findings.faults, same) ||
           std::ranges::any_of(findings.warnings, same);
  };
  for (const auto* troubles : {&first.faults, &first.warnings})
    for (const auto& trouble : *troubles)
      if (trouble.error.code != codes::node_denied && !is_told(trouble))
        findings.warnings.push_back(trouble);
}

/// The ranks of the one job of this host, on all of its nodes.
Result<FoundJobs> find_sole_job(const TargetChoice& choice, Workshop& workshop,
                                const std::stop_token& stop) {
  auto findings = find_ranks(*choice.job, workshop, stop);
  if (findings.jobs.empty())
    return no_sole_job(findings, choice.sole_job_of);
  const auto& first = findings.jobs.front();
  const bool same = std::ranges::all_of(findings.jobs, [&](const FoundJob& job) {
    return !job.arguments.empty() && job.arguments == first.arguments;
  });
  const bool has_hidden_job =
      std::ranges::any_of(findings.warnings, [](const FindTrouble& trouble) {
        return trouble.error.code ==
               codes::launcher_no_ranks; // all of its ranks are on other nodes
      });
  if ((!same && findings.jobs.size() > 1) || has_hidden_job)
    return no_sole_job(findings, choice.sole_job_of);
  const auto again = request_for(first, *choice.job);
  if (!again) {
    say_missing_ranks(findings.jobs, findings.faults, "job.ranks_missing", "ssh:HOST:PID");
    return findings;
  }
  auto whole = find_ranks(*again, workshop, stop);
  if (whole.jobs.empty()) { // its launcher does not tell: what is here was found all the same
    std::ranges::move(whole.faults, std::back_inserter(findings.faults));
    return findings;
  }
  add_doubts(whole, findings);
  return whole;
}

} // namespace

Result<void> TargetList::add(TargetSpec target) {
  // No process has a name that begins so.
  if (target.rank &&
      !known_.insert("\n" + target.keys.job.value_or("") + fmt::format("\n{}", *target.rank))
           .second)
    return fail("usage", fmt::format("two targets are given as rank {}", *target.rank),
                "give each target a rank of its own, or leave RANK= out");
  if (const auto process = target.process_key(); process && !known_.insert(*process).second)
    return fail("usage", fmt::format("{} is given twice", target.text()), "give each process once");
  targets_.push_back(std::move(target));
  return {};
}

Result<void> save_targets(const std::filesystem::path& path, std::span<const TargetSpec> targets,
                          std::span<const FindTrouble> faults) {
  if (path.empty() || targets.empty())
    return {};
  const auto text = targets_text(targets, faults);
  return text ? write_file(path, *text) : Result<void>(Failure(text.error()));
}

Result<void> require_targets(const ChosenTargets& chosen) {
  if (!chosen.targets.empty())
    return {};
  std::string why;
  for (const auto& trouble : chosen.troubles)
    why += "\n" + trouble.code + ": " + trouble.message;
  return fail("job.no_rank", "no rank was found" + why,
              chosen.troubles.empty() || chosen.troubles.front().hint.empty()
                  ? "to see the MPI jobs of this host: mqbridge ranks"
                  : chosen.troubles.front().hint);
}

std::string source_of(const TargetChoice& choice) {
  if (!choice.job)
    return "targets";
  return choice.job->mpirun ? "mpirun" : choice.job->slurm ? "slurm" : "node";
}

Result<ChosenTargets> choose_targets(const TargetChoice& choice, Workshop& workshop,
                                     std::stop_token stop) {
  std::vector<FindTrouble> faults;
  ChosenTargets chosen{choice.named, {}, source_of(choice)};
  if (choice.job) {
    TargetList list;
    for (const auto& target : choice.named)
      if (auto added = list.add(target); !added)
        return forward(std::move(added));
    auto findings = choice.sole_job_of.empty()
                        ? Result<FoundJobs>(find_ranks(*choice.job, workshop, std::move(stop)))
                        : find_sole_job(choice, workshop, stop);
    if (!findings)
      return forward(std::move(findings));
    add_troubles(findings->faults, RankError::Level::error, chosen.troubles);
    add_troubles(findings->warnings, RankError::Level::warning, chosen.troubles);
    for (auto& job : findings->jobs)
      for (const auto& rank : job.ranks)
        add_found(rank.target, list, chosen.troubles);
    chosen.targets = list.take();
    faults = std::move(findings->faults);
  }
  if (auto saved = save_targets(choice.save, chosen.targets, faults); !saved)
    return forward(std::move(saved));
  return chosen;
}

} // namespace mqbridge
