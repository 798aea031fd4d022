#pragma once

#include <stdio.h>

// How an inferior and a test talk: by files in one directory, so that neither needs a debugger or a
// message that could show up in a queue.
//   ready.RANK     the inferior has done what its scenario says; holds its process id
//   go             made by the test: the inferior may finish
//   finished.RANK  the inferior came to its normal end

/// How long an inferior waits for `go` before it gives up: nothing outlives a test that died. The
/// environment's MQBRIDGE_JOB_LIFETIME, in seconds, goes before: for benchmarks.
enum { job_lifetime_seconds = 600 };

/// Opens DIRECTORY/NAME.RANK for writing. Ends the process with a message if that cannot be done.
FILE* job_open(const char* directory, const char* name, int rank);

/// Writes ready.RANK, whole at once.
void job_ready(const char* directory, int rank);

/// Waits until another rank has written ready.RANK, without an MPI call.
void job_await_ready(const char* directory, int rank);

/// 1 if the test has made `go`. Ends the process (status 9) when its lifetime has passed
/// since its start.
int job_may_go(const char* directory);

/// Sleeps until `go` is there; makes no MPI call, so nothing progresses.
void job_wait_for_go(const char* directory);

/// Writes finished.RANK.
void job_finished(const char* directory, int rank);

/// A counter in DIRECTORY/heartbeat.RANK, shared with the test: eight bytes, host order. Never
/// NULL.
volatile unsigned long* job_heartbeat(const char* directory, int rank);
