#include "host/cli/targets.h"

#include "host/cli/target_list.h"
#include "host/disk/output_file.h"
#include "host/job/find_ranks.h"
#include "host/job/targets_file.h"
#include "host/launch/node_names.h"
#include "host/report/trouble_groups.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// Those that many nodes have alike are one.
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

Result<void> save(const std::filesystem::path& path, const std::vector<TargetSpec>& targets) {
  if (path.empty())
    return {};
  const auto text = targets_text(targets);
  return text ? write_file(path, *text) : Result<void>(Failure(text.error()));
}

} // namespace

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
      for (auto& rank : job.ranks)
        if (auto added = list.add(std::move(rank.target)); !added)
          return forward(std::move(added));
    chosen.targets = list.take();
  }
  if (auto saved = save(choice.save, chosen.targets); !saved)
    return forward(std::move(saved));
  return chosen;
}

} // namespace mqbridge
