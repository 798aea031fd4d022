#include "host/mqs/worker_session.h"

#include "host/codes.h"
#include "host/mqs/serve_worker.h"
#include "host/mqs/walk_failures.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// RLIMIT_CPU beyond the parent's own limit: the parent's clock ends a walk first, and says more.
constexpr std::uint32_t spare_cpu_seconds = 5;
/// What the DLL itself may have: Open MPI's takes some kilobytes a communicator, and groups of
/// wire::max_group_size ranks fit many times.
constexpr std::uint64_t worker_own_memory = std::uint64_t{1} << 30;
/// For its program, the DLL and their libraries, and the stack. What is mapped beside that and the
/// pages counts as its own, too: RLIMIT_DATA has no word for what is mapped as shared.
constexpr std::uint64_t worker_programs = std::uint64_t{256} << 20;

/// Started beforehand, or now.
Result<WorkerProcess> worker_for(const WorkerRequest& request) {
  if (request.started != nullptr && request.started->alive())
    return std::move(*request.started);
  return WorkerProcess::start(request.worker);
}

bool is_known_job(const WorkerRequest& request) {
  return request.job != nullptr && request.job->workers.knows(job_key(request));
}

struct GivenUp {
  Error why;
  TruncatedBy truncated_by;
};

/// Until the job's worker is free. nullopt: `turn` is taken.
std::optional<GivenUp> await_turn(const WorkerRequest& request, JobTurn& turn) {
  auto until = request.deadline;
  if (request.walk_end)
    until = std::min(until.value_or(*request.walk_end), *request.walk_end);
  if (auto ours = request.job->workers.await(job_key(request), until, request.stop)) {
    turn.emplace(std::move(*ours));
    return std::nullopt;
  }
  if (request.stop.stop_requested())
    return GivenUp{interrupted(), TruncatedBy::max_stop};
  if (request.deadline && std::chrono::steady_clock::now() >= *request.deadline)
    return GivenUp{held_too_long(), TruncatedBy::max_stop};
  return GivenUp{{"walk.max_walk",
                  fmt::format("{} was asked about other processes of the job until the time of "
                              "this one's walk was over",
                              request.dll.string()),
                  "--max-walk S with more seconds, or --max-operations N with fewer operations"},
                 TruncatedBy::time};
}

} // namespace

wire::StartMessage start_message(const WorkerRequest& request) {
  const Platform& platform = request.space.platform;
  wire::StartMessage start;
  start.dll = request.dll.string();
  start.checked = request.checked;
  start.process_name = request.process_name;
  start.big_endian = platform.byte_order == ByteOrder::big;
  const std::array sizes = {platform.short_size, platform.int_size, platform.long_size,
                            platform.long_long_size, platform.pointer_size};
  std::copy(sizes.begin(), sizes.end(), start.sizes);
  start.world_rank = static_cast<std::int32_t>(request.world_rank_hint);
  const std::uint64_t pages = request.store != nullptr ? request.store->file_bytes() : 0;
  start.address_space = worker_own_memory + worker_programs + pages;
  start.own_memory = worker_own_memory;
  start.sandboxed = request.sandboxed;
  start.of_job = request.job != nullptr;
  const auto limit = std::chrono::ceil<std::chrono::seconds>(request.cpu_limit).count();
  start.cpu_seconds = static_cast<std::uint32_t>(limit) + spare_cpu_seconds;
  if (start.of_job) // any of its workers may have to walk them all
    start.cpu_seconds *= static_cast<std::uint32_t>(request.job->workers.most_processes());
  return start;
}

void run_worker(const WorkerRequest& request, const wire::StartMessage& start, BatchReader& results,
                WorkerOutcome& outcome, MessageLog& log) {
  const Answers answers{results, outcome, log};
  const auto give_up = [&](Error why, TruncatedBy truncated_by) {
    outcome.failure = std::move(why);
    results.finish(outcome.failure, truncated_by, false);
  };
  const auto run_own = [&](const WorkerRequest& asked, JobTurn& turn) {
    auto worker = worker_for(asked);
    if (worker)
      return serve_worker(asked, start, std::move(*worker), answers, turn);
    give_up(std::move(worker).error(), TruncatedBy::nothing);
    return true;
  };

  JobTurn turn;
  if (!is_known_job(request)) {
    if (run_own(request, turn))
      return;
    results.begin_anew();
  } else if (request.meanwhile) {
    request.meanwhile();
  }
  WorkerRequest in_turn = request;
  in_turn.meanwhile = {};
  if (auto others = await_turn(in_turn, turn))
    return give_up(std::move(others->why), others->truncated_by);
  if (auto idle = turn->take()) {
    serve_worker(in_turn, start, std::move(*idle), answers, turn);
    return;
  }
  outcome.job_lost = turn->lost();
  run_own(in_turn, turn);
}

} // namespace mqbridge
