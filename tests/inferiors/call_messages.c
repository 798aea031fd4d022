// The calls of MPI 3.1 that wait for messages. Each rank inside waits for one rank outside, which
// does the other half when the test says go.

#include "tests/inferiors/call_log.h"
#include "tests/inferiors/job_files.h"
#include "tests/inferiors/mpi_calls.h"
#include "tests/inferiors/posting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { receive_tag = 40, send_tag = 60, most_requests = 8 };

/// What a call has to do with its partner, and what it waits for.
struct shape {
  const char* name;
  int receives;
  int sends;
  int barriers;     ///< nonblocking
  const char* mode; ///< of the wait; NULL: the call waits in no request of the program's
  int count;        ///< of those waited for that must complete
};

static const struct shape shapes[] = {
    {"send", 0, 1, 0, NULL, 0},
    {"ssend", 0, 1, 0, NULL, 0},
    {"rsend", 0, 1, 0, NULL, 0},
    {"bsend", 0, 1, 0, NULL, 0},
    {"recv", 1, 0, 0, NULL, 0},
    {"sendrecv", 1, 1, 0, NULL, 0},
    {"sendrecv_replace", 1, 1, 0, NULL, 0},
    {"probe", 1, 0, 0, NULL, 0},
    {"mprobe", 1, 0, 0, NULL, 0},
    {"wait", 1, 0, 0, "unknown", 1},
    {"wait_second", 3, 0, 0, "unknown", 1}, // of one thread: nothing but its stack says which
    {"waitall", 3, 0, 0, "all", 3},
    {"waitall_mixed", 2, 1, 0, "all", 3},
    {"waitall_sends", 0, 3, 0, "all", 3},
    {"waitany", 4, 0, 0, "any", 1},
    {"waitsome", 3, 1, 0, "any", 1},
    {"waitany_ibarrier", 1, 0, 1, "unknown", 1},
    {"waitall_ibarrier", 1, 0, 1, "all", 2},
    {"two_threads", 5, 0, 0, "all", 0},
};

static struct posting posting;
static MPI_Request barrier_request = MPI_REQUEST_NULL;
static MPI_Request early[most_requests]; // receives that a ready send needs
static int early_count;

static const struct shape* shape_of(const char* name) {
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
    if (strcmp(shapes[i].name, name) == 0)
      return &shapes[i];
  fprintf(stderr, "no call %s\n", name);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return NULL;
}

static int world_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static int is(const struct mpi_call* call, const char* name) {
  return strcmp(call->name, name) == 0;
}

// The rank outside that the i-th one inside waits for; in an intercommunicator one of the other
// side.
static int partner_of(const struct mpi_call* call, int i) {
  const int inter = is_intercommunicator(call->comm);
  for (int k = 0; k < call->outsider_count; ++k) {
    const int candidate = call->outsiders[(i + k) % call->outsider_count];
    if (!inter || candidate % 2 != call->insiders[i] % 2)
      return candidate;
  }
  fprintf(stderr, "nobody is outside of %s\n", call->name);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return -1;
}

static int my_partner(const struct mpi_call* call) {
  for (int i = 0; i < call->insider_count; ++i)
    if (call->insiders[i] == world_rank())
      return local_rank_of(call->comm, partner_of(call, i));
  return -1;
}

static void post_receives(const struct mpi_call* call, int peer, int count) {
  for (int i = 0; i < count; ++i) {
    const struct posted_operation op =
        posting_operation("receive", call->comm, peer, receive_tag + i, call->bytes);
    MPI_Irecv((void*)op.buffer, (int)op.length, MPI_BYTE, peer, op.tag, op.comm,
              posting_add(&posting, op));
  }
}

static void post_sends(const struct mpi_call* call, int peer, int count) {
  for (int i = 0; i < count; ++i) {
    const struct posted_operation op =
        posting_operation("send", call->comm, peer, send_tag + i, call->bytes);
    MPI_Issend(op.buffer, (int)op.length, MPI_BYTE, peer, op.tag, op.comm,
               posting_add(&posting, op));
  }
}

// What the call itself will post.
static struct posted_operation* announce(const struct mpi_call* call, const char* queue, int peer) {
  const int tag = strcmp(queue, "send") == 0 ? send_tag : receive_tag;
  posting_add(&posting, posting_operation(queue, call->comm, peer, tag, call->bytes));
  return &posting.operations[posting.count - 1];
}

static void announce_probe(const struct mpi_call* call, int peer) {
  struct posted_operation* probe = announce(call, "receive", peer);
  probe->kind = call->name;
  probe->length = -1;
  probe->buffer = NULL;
}

static void announce_all(const struct mpi_call* call, int peer) {
  if (is(call, "probe") || is(call, "mprobe")) {
    announce_probe(call, peer);
    return;
  }
  const struct shape* shape = shape_of(call->name);
  if (shape->receives)
    announce(call, "receive", peer);
  if (!shape->sends || is(call, "bsend"))
    return;
  struct posted_operation* sent = announce(call, "send", peer);
  sent->buffer_unknown = is(call, "sendrecv_replace"); // the MPI's own copy
}

static void log_wait(FILE* out, const struct posted_operation* op, const char* mode, int group,
                     int count, int unseen) {
  fprintf(out,
          "{\"queue\":\"%s\",\"tag\":%d,\"mode\":\"%s\",\"group\":%d,\"count\":%d,\"unseen\":%s}\n",
          op->queue, op->tag, mode, group, count, unseen ? "true" : "null");
}

// One line for each request that a call waits for by means of its own. Where only one thread calls
// MPI, a call that waits for one request alone just looks at it.
static void log_waits(const struct mpi_call* call) {
  const struct shape* shape = shape_of(call->name);
  const int alone =
      is(call, "wait") || is(call, "wait_second") || is(call, "recv") || is(call, "ssend");
  FILE* out = job_open(call->directory, "waited", world_rank());
  for (int i = 0; call->inside && i < posting.count; ++i) {
    const struct posted_operation* op = &posting.operations[i];
    if (is(call, "two_threads"))
      log_wait(out, op, "all", i < 2 ? 1 : 2, i < 2 ? 2 : 3, 0);
    else if (alone && call->threads)
      log_wait(out, op, "unknown", 1, 1, 0);
    else if (!alone && shape->mode)
      log_wait(out, op, shape->mode, 1, shape->count, shape->barriers);
  }
  fclose(out);
}

static void log_operations(const struct mpi_call* call) {
  oracle_begin(call->directory, world_rank());
  log_communicators();
  posting_log(&posting);
  oracle_end();
}

static void* wait_for_two(void* unused) {
  (void)unused;
  SAID(MPI_Waitall(2, posting.requests, MPI_STATUSES_IGNORE));
  return NULL;
}

static void two_threads(void) {
  pthread_t first;
  if (pthread_create(&first, NULL, wait_for_two, NULL) != 0)
    MPI_Abort(MPI_COMM_WORLD, 7);
  SAID(MPI_Waitall(3, posting.requests + 2, MPI_STATUSES_IGNORE));
  pthread_join(first, NULL);
}

static void wait_with_barrier(const struct mpi_call* call) {
  MPI_Request both[2] = {posting.requests[0], barrier_request};
  int index = 0;
  if (is(call, "waitall_ibarrier"))
    SAID(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
  else
    SAID(MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE));
  posting.requests[0] = both[0];
  barrier_request = both[1];
}

static void wait_in(const struct mpi_call* call) {
  int indices[most_requests];
  if (is(call, "two_threads"))
    two_threads();
  else if (shape_of(call->name)->barriers)
    wait_with_barrier(call);
  else if (is(call, "wait"))
    SAID(MPI_Wait(posting.requests, MPI_STATUS_IGNORE));
  else if (is(call, "wait_second"))
    SAID(MPI_Wait(posting.requests + 1, MPI_STATUS_IGNORE));
  else if (is(call, "waitany"))
    SAID(MPI_Waitany(posting.count, posting.requests, indices, MPI_STATUS_IGNORE));
  else if (is(call, "waitsome"))
    SAID(MPI_Waitsome(posting.count, posting.requests, &indices[0], indices + 1,
                      MPI_STATUSES_IGNORE));
  else
    SAID(MPI_Waitall(posting.count, posting.requests, MPI_STATUSES_IGNORE));
}

static void probe_and_receive(const struct mpi_call* call, int peer) {
  void* buffer = posting_buffer(call->bytes);
  const int bytes = (int)call->bytes;
  if (is(call, "probe")) {
    SAID(MPI_Probe(peer, receive_tag, call->comm, MPI_STATUS_IGNORE));
    SAID(MPI_Recv(buffer, bytes, MPI_BYTE, peer, receive_tag, call->comm, MPI_STATUS_IGNORE));
    return;
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  SAID(MPI_Mprobe(peer, receive_tag, call->comm, &message, MPI_STATUS_IGNORE));
  SAID(MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
}

static void buffered_send(const struct mpi_call* call, int peer) {
  const int room = (int)call->bytes + MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(posting_buffer(room), room);
  SAID(MPI_Bsend(posting_buffer(call->bytes), (int)call->bytes, MPI_BYTE, peer, send_tag,
                 call->comm));
}

static void exchange(const struct mpi_call* call, int peer) {
  void* in = (void*)posting.operations[0].buffer;
  const int bytes = (int)call->bytes;
  if (is(call, "recv"))
    SAID(MPI_Recv(in, bytes, MPI_BYTE, peer, receive_tag, call->comm, MPI_STATUS_IGNORE));
  else if (is(call, "send"))
    SAID(MPI_Send(in, bytes, MPI_BYTE, peer, send_tag, call->comm));
  else if (is(call, "ssend"))
    SAID(MPI_Ssend(in, bytes, MPI_BYTE, peer, send_tag, call->comm));
  else if (is(call, "rsend"))
    SAID(MPI_Rsend(in, bytes, MPI_BYTE, peer, send_tag, call->comm));
  else if (is(call, "sendrecv"))
    SAID(MPI_Sendrecv(posting.operations[1].buffer, bytes, MPI_BYTE, peer, send_tag, in, bytes,
                      MPI_BYTE, peer, receive_tag, call->comm, MPI_STATUS_IGNORE));
  else
    SAID(MPI_Sendrecv_replace(in, bytes, MPI_BYTE, peer, send_tag, peer, receive_tag, call->comm,
                              MPI_STATUS_IGNORE));
}

void message_prepare(const struct mpi_call* call) {
  posting.count = 0;
  early_count = 0;
  if (call->inside || !is(call, "rsend"))
    return;
  for (int i = 0; i < call->insider_count; ++i) {
    if (partner_of(call, i) != world_rank())
      continue;
    const struct posted_operation op = posting_operation(
        "receive", call->comm, local_rank_of(call->comm, call->insiders[i]), send_tag, call->bytes);
    MPI_Irecv((void*)op.buffer, (int)op.length, MPI_BYTE, op.peer, op.tag, op.comm,
              posting_add(&posting, op));
    early[early_count++] = posting.requests[posting.count - 1];
  }
}

void message_call(const struct mpi_call* call, void (*ready)(const struct mpi_call* call)) {
  const int peer = my_partner(call);
  const struct shape* shape = shape_of(call->name);
  if (call->inside && shape->mode) {
    post_receives(call, peer, shape->receives);
    post_sends(call, peer, shape->sends);
  } else if (call->inside) {
    announce_all(call, peer);
  }
  if (call->inside && shape->barriers)
    MPI_Ibarrier(call->comm, &barrier_request);
  log_operations(call);
  log_waits(call);
  ready(call);
  if (!call->inside)
    return;
  if (shape->mode)
    wait_in(call);
  else if (is(call, "probe") || is(call, "mprobe"))
    probe_and_receive(call, peer);
  else if (is(call, "bsend"))
    buffered_send(call, peer);
  else
    exchange(call, peer);
}

static int release_one(const struct mpi_call* call, int insider, MPI_Request* requests) {
  const struct shape* shape = shape_of(call->name);
  const int peer = local_rank_of(call->comm, insider);
  const int bytes = (int)call->bytes;
  int count = 0;
  for (int i = 0; i < shape->receives; ++i)
    MPI_Isend(posting_buffer(bytes), bytes, MPI_BYTE, peer, receive_tag + i, call->comm,
              &requests[count++]);
  for (int i = 0; i < shape->sends && !is(call, "rsend"); ++i)
    MPI_Irecv(posting_buffer(bytes), bytes, MPI_BYTE, peer, send_tag + i, call->comm,
              &requests[count++]);
  return count;
}

void message_release(const struct mpi_call* call) {
  MPI_Request requests[most_requests * most_requests];
  int count = 0;
  if (!call->inside) {
    if (shape_of(call->name)->barriers)
      MPI_Ibarrier(call->comm, &barrier_request);
    for (int i = 0; i < call->insider_count; ++i)
      if (partner_of(call, i) == world_rank())
        count += release_one(call, call->insiders[i], requests + count);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(early_count, early, MPI_STATUSES_IGNORE);
  } else {
    MPI_Waitall(posting.count, posting.requests, MPI_STATUSES_IGNORE);
    if (is(call, "bsend")) {
      void* buffer = NULL;
      int size = 0;
      MPI_Buffer_detach(&buffer, &size);
    }
  }
  if (barrier_request != MPI_REQUEST_NULL)
    MPI_Wait(&barrier_request, MPI_STATUS_IGNORE);
}
