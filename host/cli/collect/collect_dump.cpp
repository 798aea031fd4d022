#include "host/cli/collect/collect_dump.h"

#include "host/cli/collect/collectors.h"
#include "host/cli/terminal/progress.h"
#include "host/dump/take_looks.h"
#include "host/dump/values/times.h"
#include "host/mqs/walk_budget.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

CollectOptions collect_options(const DumpOptions& options, const Installation& installation) {
  using namespace std::chrono_literals;
  CollectOptions collecting;
  collecting.version = installation.version;
  collecting.filters = options.filters;
  collecting.greeting = options.connect_timeout + 10s; // srun waits as long for a node
  collecting.a_rank = options.max_walk + options.connect_timeout + options.silence_timeout + 60s;
  collecting.at_once = options.jobs;
  collecting.most_bytes = memory_left() / 2;
  return collecting;
}

std::size_t count_nodes(const std::vector<Collector>& collectors) {
  std::size_t nodes = 0;
  for (const auto& collector : collectors)
    nodes += collector.nodes.size();
  return nodes;
}

/// The parameters of a collected dump, and its listeners.
struct Collecting {
  const DumpCommand& command;
  const DumpOptions& options;
  const Installation& installation;
  Workshop& workshop;
  Session& session;
  ProgressLine& progress;
};

Result<CollectorPlan> plan(const Collecting& what) {
  const auto& given = what.command.collect->program;
  const auto program =
      given.empty() ? (what.installation.program_directory / "mqbridge").string() : given;
  return plan_collectors(what.command, program, what.workshop, what.session.signals.token());
}

/// One look.
Dump collect_by(const CollectorPlan& plan, const Collecting& what, const RankDone& rank_done) {
  ProgressLine& progress = what.progress;
  const auto nodes = count_nodes(plan.collectors);
  const auto begun = std::chrono::system_clock::now();
  std::size_t nodes_done = 0;
  std::size_t ranks_done = 0;
  const auto tell = [&] {
    if (progress.on() && progress.due())
      progress.show(fmt::format("collecting: {} of {} nodes done, {} ranks have come", nodes_done,
                                nodes, ranks_done));
  };
  const CollectObserver observer{
      .rank_done =
          [&](const RankDump& rank) {
            ++ranks_done;
            const auto quiet = progress.pause();
            if (rank_done)
              rank_done(rank);
          },
      .nodes_done = [&](const std::vector<Node>& done) { nodes_done += done.size(); },
      .waiting = tell};
  auto dump = collect(plan.collectors, collect_options(what.options, what.installation), observer,
                      what.session.signals.token());
  dump.taken_at = rfc3339(begun);
  return dump;
}

/// Each node looks again, at the ranks that it has then.
Dump collect_twice(const CollectorPlan& plan, const Collecting& what,
                   std::chrono::milliseconds pause, const RankDone& rank_done) {
  auto first = collect_by(plan, what, nullptr);
  const auto stop = what.session.signals.token();
  what.progress.show(again_text(pause));
  if (!stop.stop_requested() && !first.ranks.empty() && pause_for(pause, stop))
    return look_again(std::move(first), rank_done,
                      [&](const RankDone& done) { return collect_by(plan, what, done); });
  for (const RankDump& rank : first.ranks)
    rank_done(rank);
  return first;
}

} // namespace

Result<Dump> collect_dump(const DumpCommand& command, const DumpOptions& options,
                          const Installation& installation, RankLines& lines, Session& session,
                          bool shows_progress) {
  auto workshop = Workshop::open(options);
  if (!workshop)
    return forward(std::move(workshop));
  ProgressLine progress(shows_progress);
  const Collecting what{command, options, installation, **workshop, session, progress};
  auto collectors = plan(what);
  if (!collectors)
    return forward(std::move(collectors));
  Dump before;
  before.taken_at = rfc3339(std::chrono::system_clock::now());
  before.job_source = source_of(command.targets);
  before.filters = options.filters;
  lines.begin(before);
  const RankDone rank_done = [&](const RankDump& rank) { lines.rank(rank); };
  auto dump = command.verdict.again
                  ? collect_twice(*collectors, what, *command.verdict.again, rank_done)
                  : collect_by(*collectors, what, rank_done);
  apply_late_filters(dump);
  dump.job_source = before.job_source;
  dump.errors.insert(dump.errors.begin(), collectors->troubles.begin(), collectors->troubles.end());
  return dump;
}

} // namespace mqbridge
