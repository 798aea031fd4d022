#include "tests/inferiors/posting.h"

#include <stdio.h>
#include <stdlib.h>

void* posting_buffer(long bytes) {
  void* buffer = calloc(1, (size_t)bytes);
  if (!buffer)
    MPI_Abort(MPI_COMM_WORLD, 7);
  return buffer;
}

struct posted_operation posting_operation(const char* queue, MPI_Comm comm, int peer, int tag,
                                          long length) {
  struct posted_operation made = {0};
  made.queue = queue;
  made.comm = comm;
  made.peer = peer;
  made.tag = tag;
  made.length = length;
  made.buffer = posting_buffer(length);
  return made;
}

MPI_Request* posting_add(struct posting* posting, struct posted_operation operation) {
  if (posting->count == max_posted) {
    fprintf(stderr, "more than %d operations\n", max_posted);
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  posting->operations[posting->count] = operation;
  posting->requests[posting->count] = MPI_REQUEST_NULL;
  return &posting->requests[posting->count++];
}

// MPI 3.1, 3.7.3: an inactive request counts as complete.
static int counts_as_complete(const struct posted_operation* operation) {
  return operation->status == status_complete || operation->status == status_inactive;
}

static int is_complete(MPI_Request request) {
  int complete = 0;
  MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
  return complete;
}

void posting_settle(struct posting* posting) {
  const double give_up = MPI_Wtime() + 30;
  for (int i = 0; i < posting->count; ++i) {
    const int expected = counts_as_complete(&posting->operations[i]);
    while (expected && !is_complete(posting->requests[i]) && MPI_Wtime() < give_up) {
    }
  }
  // Only when all messages under way have come is a pending operation known to stay pending.
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < posting->count; ++i) {
    // A freed request cannot be asked.
    if (posting->requests[i] == MPI_REQUEST_NULL)
      continue;
    const int expected = counts_as_complete(&posting->operations[i]);
    if (is_complete(posting->requests[i]) != expected) {
      fprintf(stderr, "operation %d (%s, tag %d) is not %s\n", i, posting->operations[i].queue,
              posting->operations[i].tag, expected ? "complete" : "pending");
      MPI_Abort(MPI_COMM_WORLD, 7);
    }
  }
}

void posting_log(const struct posting* posting) {
  for (int i = 0; i < posting->count; ++i)
    oracle_operation(&posting->operations[i]);
}

void posting_finish(struct posting* posting) {
  for (int i = 0; i < posting->count; ++i) {
    MPI_Wait(&posting->requests[i], MPI_STATUS_IGNORE);
    if (posting->requests[i] != MPI_REQUEST_NULL)
      MPI_Request_free(&posting->requests[i]);
  }
}
