#include "host/cli/targets/own_targets.h"

#include "host/cli/targets/targets.h"
#include "host/disk/text_file.h"
#include "host/job/proc_texts.h"
#include "host/mpi/launcher_programs.h"

#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

/// The processes for which `is_one` is true, without those that descend from one of them.
std::vector<JobProcess> outermost(std::span<const JobProcess> processes,
                                  const std::function<bool(const JobProcess&)>& is_one) {
  std::vector<JobProcess> found;
  std::set<pid_t> inside;
  for (const auto& process : processes) {
    const bool below = inside.contains(process.parent);
    if (!below && !is_one(process))
      continue;
    inside.insert(process.pid);
    if (!below)
      found.push_back(process);
  }
  return found;
}

bool has_mpi(const JobProcess& process) {
  constexpr std::size_t most = std::size_t{1} << 20; // the MPI's are among the first thousands
  const auto maps = read_text_file(fmt::format("/proc/{}/maps", process.pid), most);
  return maps && launcher_role(process.name) == LauncherRole::none && !mapped_mpi(*maps).empty();
}

Result<TargetChoice> ranks_of(const JobProcess& launcher, std::optional<Launcher> reached_by) {
  auto process = parse_node_process(fmt::format("local:{}", launcher.pid));
  if (!process)
    return forward(std::move(process));
  JobRequest request;
  request.mpirun = std::move(*process);
  request.launcher = reached_by;
  return TargetChoice{{}, std::move(request), {}};
}

} // namespace

std::vector<JobProcess> outermost_launchers(std::span<const JobProcess> processes) {
  return outermost(processes, [](const JobProcess& process) {
    return launcher_role(process.name) == LauncherRole::front;
  });
}

Result<ChosenTargets> choose_own_targets(std::span<const JobProcess> processes,
                                         std::optional<Launcher> launcher, Workshop& workshop,
                                         const std::stop_token& stop) {
  ChosenTargets chosen{{}, {}, "mpirun"};
  TargetList list;
  for (const auto& front : outermost_launchers(processes)) {
    const auto choice = ranks_of(front, launcher);
    if (!choice)
      return Failure(choice.error());
    auto found = choose_targets(*choice, workshop, stop);
    if (!found)
      return forward(std::move(found));
    std::ranges::move(found->troubles, std::back_inserter(chosen.troubles));
    for (auto& target : found->targets)
      if (auto added = list.add(std::move(target)); !added)
        chosen.troubles.push_back({"rank.twice", RankError::Level::warning,
                                   added.error().message + "; it is looked at once", ""});
  }
  chosen.targets = list.take();
  if (!chosen.targets.empty())
    return chosen;
  chosen.source = "targets";
  for (const auto& process : outermost(processes, has_mpi))
    if (auto target = TargetSpec::parse(fmt::format("local:{}", process.pid)))
      chosen.targets.push_back(std::move(*target));
  return chosen;
}

} // namespace mqbridge
