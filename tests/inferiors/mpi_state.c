// An MPI process that stands before MPI_Init or after MPI_Finalize.
//   mpi_state DIRECTORY before|after

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: mpi_state DIRECTORY before|after\n");
    return 2;
  }
  const int before = strcmp(argv[2], "before") == 0;
  if (before) {
    job_ready(argv[1], 0);
    job_wait_for_go(argv[1]);
  }
  MPI_Init(NULL, NULL);
  MPI_Finalize();
  if (!before) {
    job_ready(argv[1], 0);
    job_wait_for_go(argv[1]);
  }
  job_finished(argv[1], 0);
  return 0;
}
