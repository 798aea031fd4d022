#include "host/cli/targets/own_job.h"

#include "host/analysis/analyze.h"
#include "host/cli/targets/own_targets.h"
#include "host/dump/take_looks.h"
#include "host/dump/workshop.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace mqbridge {
namespace {

/// For a command without ranks: enough for a script and its programs, not for a build.
constexpr std::size_t most_processes = 16;

const DumpObserver nobody{
    .rank_done = [](const RankDump&) {},
    .progress = [](std::size_t, std::string_view, std::uint64_t) {},
    .warning = [](std::size_t, const Error&) {},
    .ended = [](std::size_t, RankStatus) {},
};

Dump ranks_of(const ChosenTargets& chosen, const DumpCommand& command, Workshop& workshop,
              const std::stop_token& stop) {
  LooksObserver observer;
  observer.dump = nobody;
  auto dump = take_looks(chosen.targets, workshop, observer, command.verdict.again, stop);
  dump.job_source = chosen.source;
  std::ranges::copy(chosen.troubles, std::back_inserter(dump.errors));
  dump.analysis = analyze(dump);
  return dump;
}

std::vector<TargetSpec> targets_of(std::span<const JobProcess> processes) {
  std::vector<TargetSpec> targets;
  for (const auto& process : processes.first(std::min(processes.size(), most_processes)))
    if (auto target = TargetSpec::parse(fmt::format("local:{}", process.pid)))
      targets.push_back(std::move(*target));
  return targets;
}

/// If no rank was found, `troubles` say why, as far as that is known.
OwnJobLook processes_of(DumpOptions options, std::span<const JobProcess> processes,
                        const ChosenTargets& none, const std::stop_token& stop) {
  OwnJobLook look;
  look.troubles.push_back(
      {"run.no_rank",
       fmt::format("no rank of an MPI job was found among the processes of the command ({}): here "
                   "are their stacks",
                   processes.size()),
       "to see what mqbridge finds while the job runs: mqbridge ranks"});
  options.queues = false;
  options.filters.no_queues = true;
  auto dump = take_dump(targets_of(processes), options, nobody, stop);
  if (!dump) {
    look.troubles.push_back(dump.error());
    return look;
  }
  dump->job_source = none.source;
  std::ranges::copy(none.troubles, std::back_inserter(dump->errors));
  look.dump = std::move(*dump);
  return look;
}

} // namespace

OwnJobLook look_at_own_job(const DumpCommand& command, const DumpOptions& options,
                           std::span<const JobProcess> processes, const std::stop_token& stop) {
  ChosenTargets chosen;
  {
    auto workshop = Workshop::open(options);
    if (!workshop)
      return {.dump = {}, .troubles = {workshop.error()}};
    const auto& request = command.targets.job;
    auto found =
        choose_own_targets(processes, request ? request->launcher : std::nullopt, **workshop, stop);
    if (!found)
      return {.dump = {}, .troubles = {found.error()}};
    if (!found->targets.empty())
      return {.dump = ranks_of(*found, command, **workshop, stop), .has_ranks = true};
    chosen = std::move(*found);
  }
  return processes_of(options, processes, chosen, stop);
}

} // namespace mqbridge
