#pragma once

#include "host/mqs/batch_reader.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/message_log.h"
#include "host/mqs/wire.h"
#include "host/mqs/worker_process.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// The receivers of a worker's results.
struct Answers {
  BatchReader& results;
  WorkerOutcome& outcome;
  MessageLog& log;
};

/// Serves a fresh worker until it is done, dead or out of time: `answers` get all of its results.
/// `turn`: of the process's job, which keeps the worker afterwards if its DLL is of level 3. False:
/// the DLL is of level 3, and there is no `turn`: nothing was asked of this worker, and the caller
/// must ask the job's worker.
bool serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  WorkerProcess worker, const Answers& answers, JobWorkers::Turn* turn);

/// The same with the job's worker.
void serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  JobWorkers::Idle worker, const Answers& answers, JobWorkers::Turn& turn);

} // namespace mqbridge
