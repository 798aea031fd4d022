// Requests in each state, and statuses.

#include "tests/inferiors/handle_facts.h"

#include <stddef.h>
#include <stdint.h>

/* As the interface of handles says it: each MPI has numbers of its own. */
static int told_rank(int rank) {
  enum { TOLD_ANY_SOURCE = -1, TOLD_PROC_NULL = -2 };
  return rank == MPI_ANY_SOURCE ? TOLD_ANY_SOURCE : rank == MPI_PROC_NULL ? TOLD_PROC_NULL : rank;
}

static int self, ranks;

/// What was asked for.
struct asked {
  const char* kind;
  MPI_Comm comm;
  int peer, tag, count;
  MPI_Datatype datatype;
  const void* buffer;
};

static void request_facts(MPI_Request request, const struct asked* asked, int persistent,
                          const char* state) {
  const unsigned long long handle = HANDLE(request);
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  int size = 0;
  fact("request", handle, "kind", "%s", asked->kind);
  fact("request", handle, "persistent", "%d", persistent);
  fact("request", handle, "state", "%s", state);
  fact("request", handle, "comm", "0x%llx", HANDLE(asked->comm));
  fact("request", handle, "peer", "%d", asked->peer == MPI_ANY_SOURCE ? -1 : asked->peer);
  fact("request", handle, "tag", "%d", asked->tag == MPI_ANY_TAG ? -1 : asked->tag);
  fact("request", handle, "count", "%d", asked->count);
  fact("request", handle, "buffer", "0x%llx", (unsigned long long)(uintptr_t)asked->buffer);
  MPI_Type_get_name(asked->datatype, name, &length);
  MPI_Type_size(asked->datatype, &size);
  fact("request", handle, "datatype", "%s", name);
  fact("request", handle, "bytes", "%d", size * asked->count);
}

static int is_complete(MPI_Request request, MPI_Status* status) {
  int complete = 0;
  for (int i = 0; i < 1000 && !complete; ++i)
    MPI_Request_get_status(request, &complete, status);
  return complete;
}

/// Of a receive: has it met a message?
static void met_fact(MPI_Request request, int met) {
  fact("request", HANDLE(request), "met", "%d", met);
}

/// After it was tested: what MPI says of its completion.
static void completion_facts(MPI_Request request, int is_receive) {
  const unsigned long long handle = HANDLE(request);
  MPI_Status status;
  int cancelled = 0;
  int bytes = 0;
  if (!is_complete(request, &status))
    return;
  MPI_Test_cancelled(&status, &cancelled);
  fact("request", handle, "cancelled", "%d", cancelled);
  fact("request", handle, "error", "0");
  if (!is_receive)
    return;
  met_fact(request, !cancelled);
  if (cancelled)
    return;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  fact("request", handle, "actual_source", "%d", told_rank(status.MPI_SOURCE));
  fact("request", handle, "actual_tag", "%d", status.MPI_TAG);
  fact("request", handle, "actual_bytes", "%d", bytes);
}

static void receive_facts(const struct asked* asked) {
  MPI_Request request;
  MPI_Irecv((void*)(uintptr_t)asked->buffer, asked->count, asked->datatype, asked->peer, asked->tag,
            asked->comm, &request);
  request_facts(request, asked, 0, "active");
  met_fact(request, 0);
}

static int small[64];

static void pending_requests(MPI_Comm comm) {
  static char large[1 << 20];
  MPI_Datatype pair;
  MPI_Request request;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_set_name(pair, "pair of ints");
  MPI_Type_commit(&pair);
  receive_facts(&(struct asked){"receive", MPI_COMM_WORLD, self, 17, 4, MPI_INT, small});
  receive_facts(&(struct asked){"receive", comm, MPI_ANY_SOURCE, 18, 3, pair, small + 4});
  receive_facts(&(struct asked){"receive", comm, self, MPI_ANY_TAG, 2, MPI_DOUBLE, small + 16});
  struct asked send = {"send", MPI_COMM_SELF, 0, 20, sizeof large, MPI_CHAR, large};
  MPI_Isend(large, sizeof large, MPI_CHAR, 0, 20, MPI_COMM_SELF, &request);
  request_facts(request, &send, 0, "active");
  send = (struct asked){"send", MPI_COMM_SELF, 0, 21, 1, MPI_INT, small};
  MPI_Issend(small, 1, MPI_INT, 0, 21, MPI_COMM_SELF, &request);
  request_facts(request, &send, 0, "active");
  struct asked freed = {"receive", MPI_COMM_WORLD, self, 22, 1, MPI_INT, small};
  MPI_Irecv(small, 1, MPI_INT, self, 22, MPI_COMM_WORLD, &request);
  request_facts(request, &freed, 0, "freed");
  MPI_Request_free(&request);
}

static void complete_requests(void) {
  MPI_Request request;
  struct asked asked = {"receive", MPI_COMM_WORLD, MPI_ANY_SOURCE, MPI_ANY_TAG, 4, MPI_INT, small};
  MPI_Irecv(small, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Send(small + 8, 3, MPI_INT, self, 24, MPI_COMM_WORLD);
  request_facts(request, &asked, 0, "complete");
  completion_facts(request, 1);
  asked = (struct asked){"receive", MPI_COMM_SELF, 0, 25, 4, MPI_INT, small};
  MPI_Irecv(small, 4, MPI_INT, 0, 25, MPI_COMM_SELF, &request);
  MPI_Cancel(&request);
  request_facts(request, &asked, 0, "complete");
  completion_facts(request, 1);
}

static void persistent_requests(void) {
  MPI_Request request;
  struct asked asked = {"receive", MPI_COMM_SELF, 0, 30, 1, MPI_INT, small};
  MPI_Recv_init(small, 1, MPI_INT, 0, 30, MPI_COMM_SELF, &request); // never started
  request_facts(request, &asked, 1, "inactive");
  asked.tag = 31;
  MPI_Recv_init(small, 1, MPI_INT, 0, 31, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  request_facts(request, &asked, 1, "active");
  asked.tag = 32;
  MPI_Recv_init(small, 1, MPI_INT, 0, 32, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  MPI_Send(small + 40, 1, MPI_INT, 0, 32, MPI_COMM_SELF);
  request_facts(request, &asked, 1, "complete");
  completion_facts(request, 1);
  asked.tag = 33;
  MPI_Recv_init(small, 1, MPI_INT, 0, 33, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  MPI_Send(small + 40, 1, MPI_INT, 0, 33, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  request_facts(request, &asked, 1, "inactive");
  asked = (struct asked){"send", MPI_COMM_SELF, 0, 34, 1, MPI_INT, small};
  MPI_Ssend_init(small, 1, MPI_INT, 0, 34, MPI_COMM_SELF, &request);
  request_facts(request, &asked, 1, "inactive");
}

static int answer(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void other_requests(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  fact("request", HANDLE(request), "kind", "null");
  MPI_Grequest_start(answer, release, cancel, NULL, &request);
  fact("request", HANDLE(request), "kind", "generalized");
  fact("request", HANDLE(request), "state", "active");
  fact("request", HANDLE(request), "fortran", "%d", (int)MPI_Request_c2f(request));
  MPI_Grequest_start(answer, release, cancel, NULL, &request);
  MPI_Grequest_complete(request);
  fact("request", HANDLE(request), "kind", "generalized");
  fact("request", HANDLE(request), "state", "complete");
  MPI_Grequest_start(answer, release, cancel, NULL, &request);
  fact("request", HANDLE(request), "kind", "generalized");
  fact("request", HANDLE(request), "state", "freed");
  MPI_Request_free(&request);
  if (ranks < 2 || self != 0)
    return;
  MPI_Ibarrier(comm, &request); // which the others do not enter
  fact("request", HANDLE(request), "kind", "collective");
  fact("request", HANDLE(request), "state", "active");
  fact("request", HANDLE(request), "persistent", "0");
  fact("request", HANDLE(request), "comm", "0x%llx", HANDLE(comm));
}

static void status_facts(const MPI_Status* status) {
  const unsigned long long address = (unsigned long long)(uintptr_t)status;
  int cancelled = 0;
  int bytes = 0;
  MPI_Test_cancelled(status, &cancelled);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  fact("status", address, "source", "%d", told_rank(status->MPI_SOURCE));
  fact("status", address, "tag", "%d", status->MPI_TAG);
  fact("status", address, "cancelled", "%d", cancelled);
  fact("status", address, "bytes", "%d", bytes);
}

static void statuses(void) {
  static MPI_Status received;
  static MPI_Status empty;
  static MPI_Status cancelled;
  MPI_Request request;
  MPI_Sendrecv(small, 5, MPI_INT, self, 40, small + 8, 9, MPI_INT, self, 40, MPI_COMM_WORLD,
               &received);
  status_facts(&received);
  request = MPI_REQUEST_NULL;
  MPI_Wait(&request, &empty);
  status_facts(&empty);
  MPI_Irecv(small, 4, MPI_INT, 0, 41, MPI_COMM_SELF, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &cancelled);
  fact("status", (unsigned long long)(uintptr_t)&cancelled, "cancelled", "1");
  fact("status", (unsigned long long)(uintptr_t)MPI_STATUS_IGNORE, "ignore", "1");
}

/// Rank 0 sends, and does nothing more: the message that rank 1 has met does not come whole, unless
/// rank 1 can fetch it by itself.
void make_a_request_that_is_matched(void) {
  static char large[1 << 20];
  MPI_Request request;
  MPI_Status status;
  const struct asked asked = {"receive",    MPI_COMM_WORLD, MPI_ANY_SOURCE, 60,
                              sizeof large, MPI_CHAR,       large};
  if (ranks < 2 || self > 1)
    return;
  if (self == 0) {
    MPI_Isend(large, sizeof large, MPI_CHAR, 1, 60, MPI_COMM_WORLD, &request);
    return;
  }
  MPI_Irecv(large, sizeof large, MPI_CHAR, MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &request);
  const double until = MPI_Wtime() + 0.2;
  int complete = 0;
  while (!complete && MPI_Wtime() < until)
    MPI_Request_get_status(request, &complete, &status);
  if (complete)
    return;
  request_facts(request, &asked, 0, "active");
  met_fact(request, 1);
  fact("request", HANDLE(request), "actual_source", "0");
  fact("request", HANDLE(request), "actual_tag", "60");
}

void make_requests(MPI_Comm comm, int own_rank, int size) {
  self = own_rank;
  ranks = size;
  pending_requests(comm);
  complete_requests();
  persistent_requests();
  other_requests(comm);
  statuses();
}
