#include "tests/inferiors/blocked.h"

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <string.h>

enum { complete_tag = 60, wait_tag = 70, send_tag = 80, bytes = 64, waited_for = 3 };

static int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static int last_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size - 1;
}

// The last rank releases the others. One that is alone has nobody to release it.
static int is_releaser(MPI_Comm comm) {
  return rank_in(comm) == last_of(comm) && last_of(comm) > 0;
}

static int is(const char* scenario, const char* name) {
  return strcmp(scenario, name) == 0;
}

static struct posted_operation operation(const char* queue, MPI_Comm comm, int tag) {
  return posting_operation(queue, comm, last_of(comm), tag, bytes);
}

void blocked_prepare(struct posting* posting, MPI_Comm comm) {
  const int last = last_of(comm);
  if (!is_releaser(comm)) {
    struct posted_operation done = operation("receive", comm, complete_tag);
    done.status = status_complete;
    done.has_actual = 1;
    done.actual_peer = last;
    done.actual_tag = complete_tag;
    done.actual_length = bytes;
    MPI_Irecv((void*)done.buffer, bytes, MPI_BYTE, last, complete_tag, comm,
              posting_add(posting, done));
  }
  if (rank_in(comm) == last) {
    const int receivers = is_releaser(comm) ? last : 1;
    for (int rank = 0; rank < receivers; ++rank)
      MPI_Send(posting_buffer(bytes), bytes, MPI_BYTE, rank, complete_tag, comm);
  }
  posting_settle(posting);
}

static void post_receive(struct posting* posting, MPI_Comm comm, int tag) {
  const struct posted_operation op = operation("receive", comm, tag);
  MPI_Irecv((void*)op.buffer, bytes, MPI_BYTE, op.peer, op.tag, comm, posting_add(posting, op));
}

void blocked_post(struct posting* posting, MPI_Comm comm, const char* scenario) {
  if (is_releaser(comm))
    return;
  if (is(scenario, "blocked_recv")) {
    posting_add(posting, operation("receive", comm, wait_tag));
  } else if (is(scenario, "blocked_mprobe")) {
    struct posted_operation probe = operation("receive", comm, wait_tag);
    probe.kind = "mprobe";
    probe.length = -1;
    probe.buffer = NULL;
    posting_add(posting, probe);
  } else if (is(scenario, "blocked_ssend")) {
    posting_add(posting, operation("send", comm, send_tag));
  } else if (is(scenario, "blocked_wait")) {
    post_receive(posting, comm, wait_tag);
  } else {
    for (int i = 0; i < waited_for; ++i)
      post_receive(posting, comm, wait_tag + i);
    const struct posted_operation op = operation("send", comm, send_tag);
    MPI_Issend(op.buffer, bytes, MPI_BYTE, op.peer, op.tag, comm, posting_add(posting, op));
  }
}

static void release(MPI_Comm comm, const char* scenario) {
  const int sends = is(scenario, "blocked_ssend") || is(scenario, "blocked_waitall") ||
                    is(scenario, "blocked_waitany");
  const int one = is(scenario, "blocked_recv") || is(scenario, "blocked_wait") ||
                  is(scenario, "blocked_mprobe");
  const int receives = is(scenario, "blocked_ssend") ? 0 : one ? 1 : waited_for;
  char data[bytes] = {0};
  for (int rank = 0; rank < last_of(comm); ++rank) {
    for (int i = 0; i < receives; ++i)
      MPI_Send(data, bytes, MPI_BYTE, rank, wait_tag + i, comm);
    if (sends)
      MPI_Recv(data, bytes, MPI_BYTE, rank, send_tag, comm, MPI_STATUS_IGNORE);
  }
}

void blocked_run(struct posting* posting, MPI_Comm comm, const char* scenario,
                 const char* directory) {
  if (is_releaser(comm)) {
    job_wait_for_go(directory);
    release(comm, scenario);
    return;
  }
  // The first operation is the complete one, the last the one that a single wait or a blocking call
  // is about.
  const int first = 1;
  const struct posted_operation* op = &posting->operations[posting->count - 1];
  if (is(scenario, "blocked_recv")) {
    MPI_Recv((void*)op->buffer, bytes, MPI_BYTE, op->peer, op->tag, comm, MPI_STATUS_IGNORE);
  } else if (is(scenario, "blocked_mprobe")) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(op->peer, op->tag, comm, &message, MPI_STATUS_IGNORE);
    char data[bytes];
    MPI_Mrecv(data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else if (is(scenario, "blocked_ssend")) {
    MPI_Ssend(op->buffer, bytes, MPI_BYTE, op->peer, op->tag, comm);
  } else if (is(scenario, "blocked_wait")) {
    MPI_Wait(&posting->requests[first], MPI_STATUS_IGNORE);
  } else if (is(scenario, "blocked_waitall")) {
    MPI_Waitall(posting->count - first, posting->requests + first, MPI_STATUSES_IGNORE);
  } else if (is(scenario, "blocked_waitany")) {
    int index = 0;
    MPI_Waitany(posting->count - first, posting->requests + first, &index, MPI_STATUS_IGNORE);
  } else {
    fprintf(stderr, "no scenario %s\n", scenario);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}
