// Each rank but the last one blocks in a call of its own that waits for one request, beside others
// that are pending. The last rank does nothing for anybody.
//   one_request DIRECTORY OTHERS LEVEL
// OTHERS: how many others are pending, 1 to 6. LEVEL: single or multiple, what MPI_Init_thread is
// asked for. said.RANK has the call, the queue of its operation and its tag: no other operation of
// the rank has this tag. It never ends; nothing but the end of the job releases it.

#include "tests/inferiors/one_request.h"

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_others = 6, big = 1 << 20, small = 16, first_tag = 30, depth = 3 };

static char buffers[most_others][big];
static MPI_Request others[most_others];

static void post_other(int which, int peer, MPI_Comm side) {
  char* const buffer = buffers[which];
  const int tag = first_tag + which;
  MPI_Request* const request = &others[which];
  switch (which) {
  case 0:
    MPI_Irecv(buffer, small, MPI_CHAR, peer, tag, MPI_COMM_WORLD, request);
    break;
  case 1:
    MPI_Issend(buffer, small, MPI_CHAR, peer, tag, MPI_COMM_WORLD, request);
    break;
  case 2:
    MPI_Irecv(buffer, small, MPI_CHAR, peer, tag, side, request);
    break;
  case 3:
    MPI_Irecv(buffer, small, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, side, request);
    break;
  case 4:
    MPI_Isend(buffer, big, MPI_CHAR, peer, tag, MPI_COMM_WORLD, request);
    break;
  default:
    MPI_Recv_init(buffer, small, MPI_CHAR, peer, tag, MPI_COMM_WORLD, request);
    MPI_Start(request);
    break;
  }
}

// A message to itself that has come, and looks at requests that stay pending: both leave words
// behind.
static void leave_words_behind(int count) {
  char sent[small] = {0};
  char received[small];
  MPI_Request request;
  MPI_Irecv(received, small, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request);
  MPI_Send(sent, small, MPI_CHAR, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) {
    int done = 0;
    MPI_Test(&others[i], &done, MPI_STATUS_IGNORE);
  }
}

static int block_below(const struct blocking_call* call, int levels) {
  volatile char room[64] = {0};
  if (levels == 0)
    block_in(call);
  else
    room[levels] = (char)block_below(call, levels - 1);
  return room[levels];
}

static void say(const char* directory, int rank, const struct blocking_call* call) {
  FILE* const said = job_open(directory, "said", rank);
  fprintf(said, "%s %s %d\n", call->name, call->queue, call->tag);
  fclose(said);
}

int main(int argc, char** argv) {
  static const struct blocking_call calls[] = {{"MPI_Recv", "receive"},  {"MPI_Send", "send"},
                                               {"MPI_Ssend", "send"},    {"MPI_Wait", "receive"},
                                               {"MPI_Probe", "receive"}, {"MPI_Wait", "send"},
                                               {"MPI_Mprobe", "receive"}};
  if (argc != 4)
    return 2;
  const int count = atoi(argv[2]);
  const int level = strcmp(argv[3], "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  int provided = 0;
  int rank = -1;
  int size = 0;
  MPI_Comm side;
  MPI_Init_thread(NULL, NULL, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &side);
  alarm(job_lifetime_seconds);
  if (rank == size - 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    job_ready(argv[1], rank);
    job_wait_for_go(argv[1]);
    return 0;
  }
  struct blocking_call call = calls[rank % (int)(sizeof calls / sizeof *calls)];
  call.peer = size - 1;
  call.tag = first_tag + most_others;
  call.length = big;
  call.request = MPI_REQUEST_NULL;
  call.buffer = malloc(big);
  memset(call.buffer, 0, big);
  // Some before the operation that is waited for, the others behind it.
  const int before = (count + rank) / 2 % (count + 1);
  for (int i = 0; i < before; ++i)
    post_other(i, size - 1, side);
  if (strcmp(call.name, "MPI_Wait") == 0)
    begin(&call);
  for (int i = before; i < count; ++i)
    post_other(i, size - 1, side);
  MPI_Barrier(MPI_COMM_WORLD);
  leave_words_behind(count);
  say(argv[1], rank, &call);
  job_ready(argv[1], rank);
  return block_below(&call, depth);
}
