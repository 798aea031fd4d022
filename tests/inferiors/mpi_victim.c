// A singleton MPI process that has 1,000 receives pending and beats its heart: frozen, killed or
// running shows in DIRECTORY/heartbeat.0.
//   mpi_victim DIRECTORY [signal]
// With `signal` it raises SIGUSR1 once the receives are posted, so that a stub that spawned it
// stops it there.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { receive_count = 1000 };

static void ignore_signal(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: mpi_victim DIRECTORY [signal]\n");
    return 2;
  }
  volatile unsigned long* heartbeat = job_heartbeat(argv[1], 0);
  MPI_Init(NULL, NULL);
  static int buffers[receive_count];
  static MPI_Request requests[receive_count];
  for (int i = 0; i < receive_count; ++i)
    MPI_Irecv(&buffers[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  job_ready(argv[1], 0);
  if (argc > 2) {
    signal(SIGUSR1, ignore_signal);
    raise(SIGUSR1);
  }
  while (!job_may_go(argv[1])) {
    ++*heartbeat;
    usleep(1000);
  }
  for (int i = 0; i < receive_count; ++i)
    MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
  MPI_Waitall(receive_count, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  job_finished(argv[1], 0);
  return 0;
}
