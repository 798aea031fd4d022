#include "host/cli/collect_dump.h"

#include "host/cli/collectors.h"
#include "host/cli/progress_line.h"
#include "host/dump/phase_clock.h"
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

} // namespace

Result<Dump> collect_dump(const DumpCommand& command, const DumpOptions& options,
                          const Installation& installation, RankLines& lines, Session& session,
                          bool shows_progress) {
  auto workshop = Workshop::open(options);
  if (!workshop)
    return forward(std::move(workshop));
  const auto& given = command.collect->program;
  const auto program =
      given.empty() ? (installation.program_directory / "mqbridge").string() : given;
  auto plan = plan_collectors(command, program, **workshop, session.signals.token());
  if (!plan)
    return forward(std::move(plan));
  Dump before;
  before.taken_at = rfc3339(std::chrono::system_clock::now());
  before.job_source = source_of(command.targets);
  before.filters = options.filters;
  lines.begin(before);
  ProgressLine progress(shows_progress);
  const auto nodes = count_nodes(plan->collectors);
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
            lines.rank(rank);
          },
      .nodes_done = [&](const std::vector<Node>& done) { nodes_done += done.size(); },
      .waiting = tell};
  auto dump = collect(plan->collectors, collect_options(options, installation), observer,
                      session.signals.token());
  dump.taken_at = before.taken_at;
  dump.job_source = before.job_source;
  dump.errors.insert(dump.errors.begin(), plan->troubles.begin(), plan->troubles.end());
  return dump;
}

} // namespace mqbridge
