// many_messages DIRECTORY COUNT
//
// A rank with COUNT unexpected messages on MPI_COMM_WORLD, which it sent to itself: with the tags
// 0, 1, 2, ..., of 0 to 299 bytes (tag modulo 300). Says that it is ready, waits for `go`, and
// receives them.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { sizes = 300 };

int main(int argc, char** argv) {
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (count <= 0) {
    fprintf(stderr, "usage: many_messages DIRECTORY COUNT\n");
    return 2;
  }
  char data[sizes] = {0};
  MPI_Init(NULL, NULL);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; ++i)
    MPI_Send(data, i % sizes, MPI_BYTE, rank, i, MPI_COMM_WORLD);
  job_ready(argv[1], rank);
  job_wait_for_go(argv[1]);
  for (int i = 0; i < count; ++i)
    MPI_Recv(data, sizes, MPI_BYTE, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
