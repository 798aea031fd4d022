// many_receives DIRECTORY COUNT [signal]
//
// A rank with COUNT receives pending on MPI_COMM_WORLD, from its left neighbour with the tags 0, 1,
// 2, ... into buffers of 8 bytes that follow each other, and four more communicators beside MPI's
// own two, since the debug DLL of Open MPI looks through all requests for each. Says that it is
// ready and waits for `go`; with `signal` it raises SIGUSR1 when it is ready, and then comes to its
// end: for stubs that start a process and hold it at its entry.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { message_bytes = 8, more_communicators = 4 };

static void ignore_signal(int number) {
  (void)number;
}

static void make_communicators(void) {
  for (int i = 0; i < more_communicators; ++i) {
    MPI_Comm made;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    snprintf(name, sizeof name, "duplicate %d", i);
    MPI_Comm_set_name(made, name);
  }
}

static void send_all(int count, int to) {
  const char data[message_bytes] = {0};
  for (int i = 0; i < count; ++i)
    MPI_Send(data, message_bytes, MPI_BYTE, to, i, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (count <= 0) {
    fprintf(stderr, "usage: many_receives DIRECTORY COUNT [signal]\n");
    return 2;
  }
  signal(SIGUSR1, ignore_signal);
  int rank = 0;
  int ranks = 1;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make_communicators();
  char* const buffers = calloc((size_t)count, message_bytes);
  MPI_Request* const requests = calloc((size_t)count, sizeof *requests);
  if (!buffers || !requests)
    MPI_Abort(MPI_COMM_WORLD, 8);
  for (int i = 0; i < count; ++i)
    MPI_Irecv(buffers + (size_t)i * message_bytes, message_bytes, MPI_BYTE,
              (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, &requests[i]);
  job_ready(argv[1], rank);
  if (argc > 3 && strcmp(argv[3], "signal") == 0)
    raise(SIGUSR1);
  else
    job_wait_for_go(argv[1]);
  send_all(count, (rank + 1) % ranks);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free(buffers);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
