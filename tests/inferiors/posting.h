#pragma once

#include "tests/inferiors/oracle_log.h"

#include <mpi.h>

/// Operations that one rank has posted and not finished: each with its request and what the oracle
/// says of it.
enum { max_posted = 256 };

struct posting {
  int count;
  MPI_Request requests[max_posted];
  struct posted_operation operations[max_posted];
};

/// Zeroed memory that lives until the process ends.
void* posting_buffer(long bytes);

/// A pending operation of `queue` ("send" or "receive") with a buffer of its own of `length` bytes.
struct posted_operation posting_operation(const char* queue, MPI_Comm comm, int peer, int tag,
                                          long length);

/// Adds an operation; the caller then starts it with the returned request.
MPI_Request* posting_add(struct posting* posting, struct posted_operation operation);

/// Progresses MPI without waiting on a request until every operation is as the oracle says, by
/// MPI_Request_get_status. A mistake in the oracle ends the job with a message.
void posting_settle(struct posting* posting);

/// Writes every operation to the oracle.
void posting_log(const struct posting* posting);

/// Waits for all of them; inactive and finished persistent requests are freed.
void posting_finish(struct posting* posting);
