#include "host/mqs/worker_session.h"

#include "host/mqs/serve_worker.h"
#include "host/mqs/walk_failures.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// RLIMIT_CPU exceeds the parent's own limit by this: the parent's clock ends a walk first, and
/// says more.
constexpr std::uint32_t spare_cpu_seconds = 5;
/// Memory for the DLL itself: Open MPI's takes some kilobytes for each communicator, and groups of
/// wire::max_group_size ranks fit many times.
constexpr std::uint64_t worker_own_memory = std::uint64_t{1} << 30;
/// Memory for the worker's program, the DLL, their libraries, and the stack. Other mappings, except
/// the store's, count as the worker's own memory, too: RLIMIT_DATA does not cover shared mappings.
constexpr std::uint64_t worker_programs = std::uint64_t{256} << 20;

/// A worker that was started beforehand, or is started now.
Result<WorkerProcess> worker_for(const WorkerRequest& request) {
  if (request.started != nullptr && request.started->alive())
    return std::move(*request.started);
  return WorkerProcess::start(request.worker);
}

struct GivenUp {
  Error why;
  TruncatedBy truncated_by;
};

GivenUp explain_wait(const WorkerRequest& request) {
  if (request.stop.stop_requested())
    return {interrupted(), TruncatedBy::max_stop};
  if (request.deadline && std::chrono::steady_clock::now() >= *request.deadline)
    return {held_too_long(), TruncatedBy::max_stop};
  return {{"walk.max_walk",
           fmt::format("{} was asked about other processes of the job until the time of this one's "
                       "walk was over",
                       request.dll.string()),
           "--max-walk S with more seconds, or --max-operations N with fewer operations"},
          TruncatedBy::time};
}

/// The time until which to wait for the job's worker.
std::optional<std::chrono::steady_clock::time_point> end_of_wait(const WorkerRequest& request) {
  if (request.deadline && request.walk_end)
    return std::min(*request.deadline, *request.walk_end);
  return request.deadline ? request.deadline : request.walk_end;
}

/// The work for one process.
class Work {
public:
  Work(const WorkerRequest& request, const wire::StartMessage& start, const Answers& answers)
      : request_(request), start_(start), answers_(answers) {}

  void run() {
    if (request_.job == nullptr) {
      run_own(nullptr);
      return;
    }
    auto& jobs = request_.job->workers;
    const JobWorkers::Key key{request_.dll, request_.job->name};
    if (!jobs.knows(key)) {
      if (run_own(nullptr))
        return;
      jobs.note(key);
    }
    if (auto turn = jobs.await(key, end_of_wait(request_), request_.stop))
      run_in(*turn);
    else
      give_up(explain_wait(request_));
  }

private:
  /// Runs a worker of this process's own. False: the job's worker is to be asked instead.
  bool run_own(JobWorkers::Turn* turn) {
    auto worker = worker_for(request_);
    if (worker)
      return serve_worker(request_, start_, std::move(*worker), answers_, turn);
    give_up({std::move(worker).error(), TruncatedBy::nothing});
    return true;
  }

  void run_in(JobWorkers::Turn& turn) {
    auto worker = turn.take();
    answers_.outcome.job_lost = turn.has_lost();
    if (worker)
      return serve_worker(request_, start_, std::move(*worker), answers_, turn);
    start_.cpu_seconds *= static_cast<std::uint32_t>(request_.job->workers.most_processes());
    run_own(&turn);
  }

  void give_up(GivenUp reason) {
    answers_.outcome.failure = std::move(reason.why);
    answers_.results.finish(answers_.outcome.failure, reason.truncated_by, false);
  }

  WorkerRequest request_;
  wire::StartMessage start_;
  Answers answers_;
};

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
  return start;
}

void run_worker(const WorkerRequest& request, const wire::StartMessage& start, BatchReader& results,
                WorkerOutcome& outcome, MessageLog& log) {
  Work(request, start, {results, outcome, log}).run();
}

} // namespace mqbridge
