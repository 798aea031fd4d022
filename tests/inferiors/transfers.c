#include "tests/inferiors/transfers.h"

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <unistd.h>

enum { large = 4 << 20, matched_tag = 150, inter_tag = 160 };

static void say(struct posting* posting, const MPI_Comm* comms, int count, int internal,
                const char* directory, int rank) {
  oracle_begin(directory, rank);
  for (int i = 0; i < count; ++i)
    oracle_communicator(comms[i]);
  oracle_internal_communicators(internal);
  posting_log(posting);
  oracle_end();
  job_ready(directory, rank);
}

// Progresses for a while; the message must have begun and not ended.
static void check_incomplete(MPI_Request request) {
  const double until = MPI_Wtime() + 0.2;
  while (MPI_Wtime() < until) {
    int complete = 0;
    MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    if (complete) {
      fprintf(stderr, "the large message came whole\n");
      MPI_Abort(MPI_COMM_WORLD, 7);
    }
  }
}

void matched_run(struct posting* posting, const char* directory, int world_rank) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  if (world_rank % 2 == 0) {
    const struct posted_operation op =
        posting_operation("send", comm, world_rank + 1, matched_tag, large);
    MPI_Isend(op.buffer, large, MPI_BYTE, op.peer, op.tag, comm, posting_add(posting, op));
    posting_settle(posting);
    say(posting, comms, 2, 0, directory, world_rank);
    return;
  }
  posting_settle(posting);
  // From then on the sender makes no MPI call.
  job_await_ready(directory, world_rank - 1);
  struct posted_operation op =
      posting_operation("receive", comm, MPI_ANY_SOURCE, matched_tag, large + 1000);
  op.status = status_matched;
  op.has_actual = 1;
  op.actual_peer = world_rank - 1;
  op.actual_tag = matched_tag;
  op.actual_length = large;
  MPI_Request* request = posting_add(posting, op);
  MPI_Irecv((void*)op.buffer, large + 1000, MPI_BYTE, op.peer, op.tag, comm, request);
  check_incomplete(*request);
  say(posting, comms, 2, 0, directory, world_rank);
}

static MPI_Comm make_intercommunicator(MPI_Comm* side, int world_rank) {
  const int odd = world_rank % 2;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, odd, world_rank, side);
  MPI_Comm_set_name(*side, odd ? "odd" : "even");
  MPI_Intercomm_create(*side, 0, MPI_COMM_WORLD, odd ? 0 : 1, 1, &inter);
  MPI_Comm_set_name(inter, "between");
  return inter;
}

void inter_run(struct posting* posting, const char* directory, int world_rank) {
  MPI_Comm side = MPI_COMM_NULL;
  const MPI_Comm inter = make_intercommunicator(&side, world_rank);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &size);
  const struct posted_operation explicit_source =
      posting_operation("receive", inter, 0, inter_tag, 8);
  const struct posted_operation any_source =
      posting_operation("receive", inter, MPI_ANY_SOURCE, inter_tag + 1, 16);
  const struct posted_operation sent =
      posting_operation("send", inter, size - 1, inter_tag + 2, 32);
  MPI_Irecv((void*)explicit_source.buffer, 8, MPI_BYTE, 0, inter_tag, inter,
            posting_add(posting, explicit_source));
  MPI_Irecv((void*)any_source.buffer, 16, MPI_BYTE, MPI_ANY_SOURCE, inter_tag + 1, inter,
            posting_add(posting, any_source));
  MPI_Issend(sent.buffer, 32, MPI_BYTE, size - 1, inter_tag + 2, inter, posting_add(posting, sent));
  posting_settle(posting);
  const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, side, inter};
  // Open MPI keeps a copy of the local side for the intercommunicator's collectives.
  say(posting, comms, 4, 1, directory, world_rank);
  job_wait_for_go(directory);

  char data[32] = {0};
  for (int peer = 0; rank == 0 && peer < size; ++peer)
    MPI_Send(data, 8, MPI_BYTE, peer, inter_tag, inter);
  MPI_Send(data, 16, MPI_BYTE, rank, inter_tag + 1, inter);
  for (int peer = 0; rank == size - 1 && peer < size; ++peer)
    MPI_Recv(data, 32, MPI_BYTE, peer, inter_tag + 2, inter, MPI_STATUS_IGNORE);
}
