#include "host/dump/take_dump.h"

#include "host/dump/filters.h"
#include "host/dump/job_view.h"
#include "host/dump/phase_clock.h"
#include "host/dump/process_access.h"
#include "host/dump/rank_dump.h"
#include "host/dump/workshop.h"
#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace mqbridge {
namespace {

/// Targets behind one server, by index: it talks to one client at a time.
std::vector<std::vector<std::size_t>> group_by_server(std::span<const TargetSpec> targets) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto same = [&](const std::vector<std::size_t>& group) {
      const auto* const one = targets[group.front()].live();
      const auto* const other = targets[i].live();
      return one != nullptr && other != nullptr && one->same_server(*other);
    };
    if (auto group = std::find_if(groups.begin(), groups.end(), same); group != groups.end())
      group->push_back(i);
    else
      groups.push_back({i});
  }
  return groups;
}

/// Time in which at least one rank was held: the union of the intervals.
double stalled_ms(std::vector<HeldTime> held) {
  std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  double total = 0;
  auto end = std::chrono::steady_clock::time_point::min();
  for (const auto& interval : held) {
    if (interval.to <= end)
      continue;
    total += milliseconds(interval.to - std::max(interval.from, end));
    end = interval.to;
  }
  return total;
}

void summarise_stops(Dump& dump, const std::vector<RankOutcome>& outcomes) {
  std::vector<HeldTime> held;
  for (const auto& outcome : outcomes)
    if (outcome.held)
      held.push_back(*outcome.held);
  if (held.empty())
    return;
  const auto [first, last] = std::minmax_element(
      held.begin(), held.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  dump.skew_ms = milliseconds(last->from - first->from);
  dump.stalled_ms = stalled_ms(std::move(held));
}

/// Runs the groups on a bounded number of threads; each outcome lands at its target's index.
class RankPool {
public:
  RankPool(std::span<const TargetSpec> targets, const SharedTools& tools,
           const DumpObserver& observer, std::stop_token stop)
      : targets_(targets), tools_(tools), observer_(observer), stop_(std::move(stop)),
        groups_(group_by_server(targets)), outcomes_(targets.size()) {}

  std::vector<RankOutcome> run() {
    {
      std::vector<std::jthread> threads;
      try {
        for (std::size_t i = 1; i < std::min(groups_.size(), tools_.options.jobs); ++i)
          threads.emplace_back([this] { take_groups(); });
      } catch (const std::system_error&) {
        // No more threads are to be had (RLIMIT_NPROC, cgroup): those there are do it all.
      }
      take_groups();
    }
    if (thrown_)
      std::rethrow_exception(thrown_);
    return std::move(outcomes_);
  }

private:
  void take_groups() {
    for (auto group = next_group_++; group < groups_.size(); group = next_group_++) {
      std::shared_ptr<rsp::SharedStub> stub;
      for (const auto index : groups_[group])
        take(index, stub);
    }
  }

  void take(std::size_t index, std::shared_ptr<rsp::SharedStub>& stub) {
    auto& outcome = outcomes_[index];
    if (stop_.stop_requested()) {
      name_target(outcome.dump, targets_[index]);
      outcome.claim.given = targets_[index].rank;
      outcome.dump.errors.push_back({std::string(codes::interrupted), RankError::Level::error,
                                     "interrupted before it was this target's turn", ""});
    } else {
      outcome = dump_rank(targets_[index], tools_, stub, observer_of(index), stop_);
    }
    claim_rank(outcome.dump, outcome.claim);
    if (observer_.ended)
      observer_.ended(index, outcome.dump.status);
    tell(outcome.dump);
  }

  /// Nobody waits for the lock: a target is held meanwhile, and whoever has it may be writing a
  /// finished rank into a pipe that nobody reads.
  RankObserver observer_of(std::size_t index) {
    RankObserver observer;
    observer.progress = [this, index](std::string_view phase, std::uint64_t operations) {
      if (observer_.progress)
        observer_.progress(index, phase, operations);
    };
    observer.warning = [this, index](const Error& warning) {
      const std::unique_lock lock(observer_mutex_, std::try_to_lock);
      if (lock && observer_.warning)
        observer_.warning(index, warning);
    };
    return observer;
  }

  /// What the observer throws is kept for the caller's thread: on another it would end the program,
  /// and with it the other ranks' dumps.
  void tell(const RankDump& dump) {
    const std::lock_guard lock(observer_mutex_);
    if (!observer_.rank_done || thrown_)
      return;
    try {
      observer_.rank_done(dump);
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }

  std::span<const TargetSpec> targets_;
  const SharedTools& tools_;
  const DumpObserver& observer_;
  std::stop_token stop_;
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<RankOutcome> outcomes_;
  std::atomic<std::size_t> next_group_{0};
  std::mutex observer_mutex_;
  std::exception_ptr thrown_; ///< by the observer
};

} // namespace

Dump take_dump(std::span<const TargetSpec> targets, Workshop& workshop,
               const DumpObserver& observer, std::stop_token stop) {
  const auto& options = workshop.options();
  Dump dump;
  dump.taken_at = rfc3339(std::chrono::system_clock::now());
  dump.job_source = "targets";
  dump.filters = options.filters;
  // The other half of what is left is for what is read and printed.
  RunBudget budget(memory_left() / 2, targets.size());
  const auto tools = workshop.tools(budget);
  auto outcomes = RankPool(targets, tools, observer, std::move(stop)).run();
  workshop.keep();
  summarise_stops(dump, outcomes);

  std::vector<RankClaim> claims;
  for (auto& outcome : outcomes) {
    dump.ranks.push_back(std::move(outcome.dump));
    claims.push_back(std::move(outcome.claim));
  }
  settle_job(dump, std::move(claims));
  std::erase_if(dump.ranks,
                [&](const RankDump& rank) { return !wanted(options.filters, rank.rank); });
  return dump;
}

Result<Dump> take_dump(std::span<const TargetSpec> targets, const DumpOptions& options,
                       const DumpObserver& observer, std::stop_token stop) {
  auto workshop = Workshop::open(options);
  if (!workshop)
    return forward(std::move(workshop));
  return take_dump(targets, **workshop, observer, std::move(stop));
}

} // namespace mqbridge
