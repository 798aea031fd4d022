#include "host/cli/targets/targets.h"

#include "host/disk/output_file.h"
#include "host/job/find_ranks.h"
#include "host/job/targets_file.h"
#include "host/launch/node_names.h"
#include "host/report/trouble_groups.h"

#include <fmt/format.h>
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
    auto findings = find_ranks(*choice.job, workshop, std::move(stop));
    add_troubles(findings.faults, RankError::Level::error, chosen.troubles);
    add_troubles(findings.warnings, RankError::Level::warning, chosen.troubles);
    for (auto& job : findings.jobs)
      for (const auto& rank : job.ranks)
        add_found(rank.target, list, chosen.troubles);
    chosen.targets = list.take();
    faults = std::move(findings.faults);
  }
  if (auto saved = save_targets(choice.save, chosen.targets, faults); !saved)
    return forward(std::move(saved));
  return chosen;
}

} // namespace mqbridge
