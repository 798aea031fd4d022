#pragma once

#include "host/mqs/batch_reader.h"
#include "host/mqs/message_log.h"
#include "host/mqs/wire.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// The part of a worker's work that is the same for every question. The question itself is added
/// by the caller.
wire::StartMessage start_message(const WorkerRequest& request);

/// Lets a worker do the work of `start`: serves its look-ups and fetches, hands its batches to
/// `results`, and ends it when it is done, dead or out of time. Never throws for anything that the
/// worker does, never hangs: a fault is in `outcome.failure`, in the words of walk_failures.h. Call
/// it on the thread that reads the process's memory.
void run_worker(const WorkerRequest& request, const wire::StartMessage& start, BatchReader& results,
                WorkerOutcome& outcome, MessageLog& log);

} // namespace mqbridge
