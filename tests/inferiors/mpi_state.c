// An MPI process that stands before MPI_Init or after MPI_Finalize, or that calls MPI_COMM_WORLD by
// another name.
//   mpi_state DIRECTORY before|renamed|after

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void stand_if(const char* moment, char** argv) {
  if (strcmp(argv[2], moment) != 0)
    return;
  job_ready(argv[1], 0);
  job_wait_for_go(argv[1]);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: mpi_state DIRECTORY before|renamed|after\n");
    return 2;
  }
  stand_if("before", argv);
  MPI_Init(NULL, NULL);
  if (strcmp(argv[2], "renamed") == 0)
    MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
  stand_if("renamed", argv);
  MPI_Finalize();
  stand_if("after", argv);
  job_finished(argv[1], 0);
  return 0;
}
