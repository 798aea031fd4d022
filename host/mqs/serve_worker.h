#pragma once

#include "host/mqs/batch_reader.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/message_log.h"
#include "host/mqs/wire.h"
#include "host/mqs/worker_process.h"
#include "host/mqs/worker_request.h"

#include <optional>

namespace mqbridge {

/// Where a worker's results go.
struct Answers {
  BatchReader& results;
  WorkerOutcome& outcome;
  MessageLog& log;
};

/// The right to ask the worker of the process's job, once it is taken.
using JobTurn = std::optional<JobWorkers::Turn>;

inline JobWorkers::Key job_key(const WorkerRequest& request) {
  return {request.dll, request.job->name};
}

/// Serves a worker that was asked for nothing so far until it is done, dead or out of time:
/// `answers` have all that it said. Where its DLL is of level 3, `turn` is taken, and has the
/// worker afterwards. False: another worker is the one of the job, and nothing was answered.
bool serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  WorkerProcess worker, const Answers& answers, JobTurn& turn);

/// The same with the job's worker.
void serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  JobWorkers::Idle worker, const Answers& answers, JobTurn& turn);

} // namespace mqbridge
