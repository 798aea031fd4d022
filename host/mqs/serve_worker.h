#pragma once

#include "host/mqs/batch_reader.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/message_log.h"
#include "host/mqs/wire.h"
#include "host/mqs/worker_process.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// Where a worker's results go.
struct Answers {
  BatchReader& results;
  WorkerOutcome& outcome;
  MessageLog& log;
};

/// Serves a worker that was asked for nothing so far until it is done, dead or out of time:
/// `answers` have all that it said. `turn`: of the process's job, which keeps the worker
/// afterwards, where its DLL is of level 3. False: without a turn, it is of level 3: nothing was
/// answered, and the job's worker is to be asked.
bool serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  WorkerProcess worker, const Answers& answers, JobWorkers::Turn* turn);

/// The same with the job's worker.
void serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  JobWorkers::Idle worker, const Answers& answers, JobWorkers::Turn& turn);

} // namespace mqbridge
