#include "host/cli/collect/collectors.h"

#include "host/dump/values/filters.h"
#include "host/job/slurm_nodes.h"

#include <fmt/format.h>
#include <map>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

using CommandWords = std::vector<std::string>;

class Planner {
public:
  Planner(const DumpCommand& command, const std::string& program, Launchers& launchers)
      : launchers_(launchers), beginning_{program, std::string(command.name())} {
    append(beginning_, command.collect->words);
  }

  /// Adds a collector for each node; all get the same words.
  void add_all(const std::vector<Node>& nodes, const CommandWords& told) {
    std::map<std::string, std::vector<Node>> by_job; ///< of Slurm
    for (const auto& node : nodes)
      if (node.launcher == Launcher::srun)
        by_job[node.slurm_job].push_back(node);
      else
        add(node, told);
    for (auto& [job, of_job] : by_job)
      if (of_job.size() == 1)
        add(of_job.front(), told);
      else
        plan_.collectors.push_back({launchers_.command_on_all(of_job, words(told)), of_job});
  }

  void add(const Node& node, const CommandWords& told) {
    plan_.collectors.push_back({launchers_.command_on(node, words(told)), {node}});
  }

  CollectorPlan take() { return std::move(plan_); }

private:
  static void append(CommandWords& to, const CommandWords& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  CommandWords words(const CommandWords& told) const {
    auto all = beginning_;
    append(all, told);
    return all;
  }

  Launchers& launchers_;
  CommandWords beginning_;
  CollectorPlan plan_;
};

/// Plans collectors that look for the ranks themselves, by names that their nodes know.
Result<CollectorPlan> plan_search(const JobRequest& request, Planner planner) {
  auto nodes = request.nodes;
  std::string job = request.slurm ? request.slurm->job : "";
  if (nodes.empty()) {
    auto found = find_slurm_nodes(*request.slurm, request.launcher.value_or(Launcher::srun));
    if (!found)
      return forward(std::move(found));
    if (found->is_array)
      return fail(
          "usage",
          fmt::format("--collect: several tasks of the array {} run, each of which is a job "
                      "of its own",
                      job),
          fmt::format("dump one after the other: --slurm {}_TASK; or leave --collect out", job));
    nodes = std::move(found->nodes);
    if (found->numbers.size() == 1) // of an array the processes say another one than people
      job = *found->numbers.begin();
  }
  CommandWords told = {"--node", "localhost"};
  if (request.slurm) {
    const auto& step = request.slurm->step;
    told.insert(told.end(), {"--slurm", job + (step ? "." + *step : "")});
  }
  planner.add_all(nodes, told);
  return planner.take();
}

std::string word_of(const TargetSpec& target, std::int64_t pid) {
  return target.rank ? fmt::format("{}=local:{}", *target.rank, pid) : fmt::format("local:{}", pid);
}

CollectorPlan plan_targets(const ChosenTargets& chosen, const Filters& filters, Planner planner) {
  std::map<Node, CommandWords> told;
  for (const auto& target : chosen.targets)
    if (const auto* const process = std::get_if<NodeProcess>(&target.where);
        process != nullptr && wanted(filters, target.rank))
      told[process->node].push_back(word_of(target, process->pid));
  for (const auto& [node, words] : told)
    planner.add(node, words);
  auto plan = planner.take();
  plan.troubles = chosen.troubles;
  return plan;
}

} // namespace

Result<CollectorPlan> plan_collectors(const DumpCommand& command, const std::string& program,
                                      Workshop& workshop, std::stop_token stop) {
  Planner planner(command, program, workshop.launchers());
  const auto& job = command.targets.job;
  if (job && !job->mpirun && command.targets.named.empty())
    return plan_search(*job, std::move(planner));
  const auto chosen = choose_targets(command.targets, workshop, std::move(stop));
  if (!chosen)
    return Failure(chosen.error());
  if (auto some = require_targets(*chosen); !some)
    return forward(std::move(some));
  return plan_targets(*chosen, command.options.filters, std::move(planner));
}

} // namespace mqbridge
