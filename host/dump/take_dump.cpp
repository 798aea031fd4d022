#include "host/dump/take_dump.h"

#include "host/dump/pool/consistent_dump.h"
#include "host/dump/pool/rank_pool.h"
#include "host/dump/rank/phase_clock.h"
#include "host/dump/together/job_view.h"
#include "host/dump/together/recorded_messages.h"
#include "host/dump/values/filters.h"
#include "host/dump/values/times.h"
#include "host/dump/workshop.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

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

} // namespace

Dump take_dump(std::span<const TargetSpec> targets, Workshop& workshop,
               const DumpObserver& observer, std::stop_token stop) {
  const auto& options = workshop.options();
  Dump dump;
  dump.taken_at = rfc3339(std::chrono::system_clock::now());
  dump.job_source = "targets";
  dump.filters = options.filters;
  // The other half of the free memory is for files that are read, and for printing.
  RunBudget budget(memory_left() / 2, targets.size());
  JobWorkers job_workers(targets.size());
  auto tools = workshop.tools(budget);
  if (targets.size() > 1)
    tools.job_workers = &job_workers;
  auto outcomes = options.consistent ? dump_consistently(targets, tools, observer, stop)
                                     : RankPool(targets, tools, observer, std::move(stop)).run();
  for (auto& said : job_workers.end())
    dump.errors.push_back({"dll.message", RankError::Level::warning, std::move(said), ""});
  workshop.keep();
  summarise_stops(dump, outcomes);

  std::vector<RankClaim> claims;
  for (auto& outcome : outcomes) {
    dump.ranks.push_back(std::move(outcome.dump));
    claims.push_back(std::move(outcome.claim));
  }
  settle_job(dump, std::move(claims));
  settle_recorded_messages(dump.ranks);
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

DumpOptions::DumpOptions() = default;
DumpOptions::DumpOptions(const DumpOptions&) = default;
DumpOptions::DumpOptions(DumpOptions&&) noexcept = default;
DumpOptions& DumpOptions::operator=(const DumpOptions&) = default;
DumpOptions& DumpOptions::operator=(DumpOptions&&) noexcept = default;
DumpOptions::~DumpOptions() = default;

} // namespace mqbridge
