#include "host/analysis/reduction.h"

#include <algorithm>
#include <map>
#include <set>

namespace mqbridge {
namespace {

class Reducer {
public:
  Reducer(const JobWaits& waits, bool idle_runs)
      : waits_(waits), graph_(waits.graph()), assumptions_{.unknown_runs = true,
                                                           .guessed_runs = true,
                                                           .idle_runs = idle_runs} {
    const auto& nodes = waits.nodes();
    process_of_.assign(graph_.size(), none);
    for (std::size_t process = 0; process < nodes.size(); ++process)
      process_of_[nodes[process]] = process;
  }

  Reduction run() {
    Reduction reduction;
    const auto guessed =
        graph_.running({.unknown_runs = true, .idle_runs = assumptions_.idle_runs});
    const auto pessimistic = graph_.running({.unknown_runs = false, .idle_runs = false});
    running_ = graph_.running(assumptions_);
    reduction.proven =
        std::ranges::any_of(waits_.nodes(), [&](WaitNode node) { return !running_[node]; });
    if (!reduction.proven) {
      assumptions_.guessed_runs = false;
      running_ = guessed;
    }
    const auto certain =
        graph_.running({.unknown_runs = true, .guessed_runs = true, .unproven_runs = true});
    const auto moving =
        graph_.running({.unknown_runs = false, .doubtful_runs = false, .idle_runs = false});
    for (std::size_t process = 0; process < waits_.nodes().size(); ++process) {
      const WaitNode node = waits_.nodes()[process];
      const bool seen = waits_.picture().process(process).presence == Presence::here;
      reduction.dead.push_back(!running_[node]);
      reduction.doubtful.push_back(running_[node] && !guessed[node]);
      reduction.undecided.push_back(seen && guessed[node] && !pessimistic[node]);
      reduction.standing.push_back(pessimistic[node] && !moving[node]);
      reduction.certain.push_back(!certain[node]);
    }
    set_aside(reduction, pessimistic);
    find_cores(reduction);
    return reduction;
  }

private:
  static constexpr std::size_t none = ~std::size_t{0};

  bool waits_outside(std::size_t process) const {
    const ProcessWaits& waits = waits_.of(process);
    return waits.calls.empty() && std::ranges::none_of(waits.threads, [](const ThreadView& thread) {
             return thread.state == ThreadState::unknown;
           });
  }

  /// Whether it is no sign of progress that the process runs: it polls or sleeps, and may do so for
  /// ever; or it is suspended.
  bool may_rest(std::size_t process) const {
    const Process& it = waits_.picture().process(process);
    const ProcessWaits& waits = waits_.of(process);
    return it.presence != Presence::here || is_suspended(it) ||
           std::ranges::any_of(waits.calls,
                               [](const CallWait& wait) {
                                 return wait.call != nullptr &&
                                        kind_of_call(*wait.call->call) == CallKind::poll;
                               }) ||
           std::ranges::any_of(waits.threads, [&](const ThreadView& thread) {
             return thread.call != nullptr && !thread.call->call &&
                    is_asleep(*it.now, *thread.call);
           });
  }

  /// By job: whether a process goes on, and waits for none that may rest.
  std::vector<bool> jobs_that_go_on(const std::vector<bool>& pessimistic) const {
    std::vector<WaitNode> resting;
    for (std::size_t process = 0; process < waits_.nodes().size(); ++process)
      if (may_rest(process))
        resting.push_back(waits_.nodes()[process]);
    const auto behind = graph_.waiting_for(resting);
    std::vector<bool> jobs(waits_.picture().jobs().size(), false);
    for (std::size_t process = 0; process < waits_.nodes().size(); ++process)
      if (const WaitNode node = waits_.nodes()[process]; pessimistic[node] && !behind[node])
        jobs[waits_.picture().process(process).job] = true;
    return jobs;
  }

  /// Processes with which calls of others exchange messages: a call may need their progress,
  /// although its message has met its receive.
  std::vector<bool> partners_of_calls() const {
    std::vector<bool> partners(waits_.nodes().size(), false);
    for (std::size_t process = 0; process < partners.size(); ++process)
      for (const CallWait& call : waits_.of(process).calls)
        for (const OperationAt& at : call.operations)
          if (const auto partner = waits_.requests().partner_of(process, at);
              partner && partner->process && *partner->process != process)
            partners[*partner->process] = true;
    return partners;
  }

  /// If a process in MPI waits for one outside of MPI that is not known to go on, it is undecided,
  /// too. So if all processes are seen, and all undecided ones are outside, nobody in MPI waits for
  /// them.
  void set_aside(Reduction& reduction, const std::vector<bool>& pessimistic) const {
    reduction.aside.assign(reduction.undecided.size(), false);
    const JobPicture& picture = waits_.picture();
    std::vector<std::int64_t> found(picture.jobs().size(), 0);
    for (std::size_t process = 0; process < reduction.undecided.size(); ++process) {
      const Process& it = picture.process(process);
      if (it.presence == Presence::unread || reduction.dead[process] ||
          (reduction.undecided[process] && !waits_outside(process)))
        return;
      ++found[it.job];
    }
    const bool all_found = std::ranges::equal(
        picture.sizes(), found, [](const auto& size, std::int64_t count) { return size == count; });
    if (picture.nameless() > 0 || !all_found)
      return;
    const auto go_on = jobs_that_go_on(pessimistic);
    const auto partners = partners_of_calls();
    for (std::size_t process = 0; process < reduction.undecided.size(); ++process)
      if (reduction.undecided[process] && !partners[process] &&
          go_on[picture.process(process).job]) {
        reduction.undecided[process] = false;
        reduction.aside[process] = true;
      }
  }

  /// A process that could not go on even if all others did is a core by itself, whomever else it
  /// waits for. A node between processes that leads to no process is left out of the search.
  void find_cores(Reduction& reduction) {
    const auto helped = graph_.running(assumptions_, waits_.nodes());
    std::vector<bool> alone(graph_.size(), false);
    for (WaitNode node = 0; node < graph_.size(); ++node) {
      if (helped[node])
        continue;
      if (process_of_[node] == none)
        running_[node] = true;
      else
        alone[node] = true;
    }
    const auto components = graph_.components(running_, alone);
    std::map<std::uint32_t, std::vector<std::size_t>> members;
    for (std::size_t process = 0; process < reduction.dead.size(); ++process) {
      const auto component = components.of[waits_.nodes()[process]];
      if (reduction.dead[process] && components.sink[component])
        members[component].push_back(process);
    }
    reduction.next.resize(reduction.dead.size());
    for (auto& [component, processes] : members) {
      for (const std::size_t process : processes)
        if (!alone[waits_.nodes()[process]])
          reduction.next[process] = next_of(process);
      reduction.cores.push_back(std::move(processes));
    }
  }

  /// The processes that it waits for, directly or through requests and groups.
  std::vector<std::size_t> next_of(std::size_t process) const {
    std::vector<std::size_t> next;
    std::vector<WaitNode> open{waits_.nodes()[process]};
    std::set<WaitNode> seen;
    bool itself = false; // among all members that a wildcard has: no reason to name it
    while (!open.empty()) {
      const WaitNode node = open.back();
      open.pop_back();
      for (const WaitNode child : graph_.children(node)) {
        if (child <= WaitGraph::last_constant || running_[child] || !seen.insert(child).second)
          continue;
        if (process_of_[child] == none)
          open.push_back(child);
        else if (process_of_[child] != process)
          next.push_back(process_of_[child]);
        else
          itself = true;
        if (next.size() == Reduction::most_next)
          return next;
      }
    }
    if (next.empty() && itself)
      next.push_back(process);
    return next;
  }

  const JobWaits& waits_;
  const WaitGraph& graph_;
  Assumptions assumptions_;
  std::vector<bool> running_;
  std::vector<std::size_t> process_of_; ///< by node
};

} // namespace

Reduction reduce(const JobWaits& waits, bool idle_runs) {
  return Reducer(waits, idle_runs).run();
}

} // namespace mqbridge
