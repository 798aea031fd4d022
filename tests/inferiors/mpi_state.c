// An MPI process that stands before MPI_Init, in MPI_Finalize or after it, or that calls
// MPI_COMM_WORLD by another name.
//   mpi_state DIRECTORY before|late|renamed|inside|after
// late: of two ranks. Rank 0 hangs in MPI_Init until rank 1 may go there, too.
// inside: of two ranks. Rank 0 hangs in MPI_Finalize, with a send and a receive of its own pending
// and a communicator not freed, until rank 1 may go there, too.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stand_if(const char* moment, char** argv, int rank) {
  if (strcmp(argv[2], moment) != 0)
    return;
  job_ready(argv[1], rank);
  job_wait_for_go(argv[1]);
}

// By Open MPI's launcher: MPI has not begun.
static void come_late(const char* directory) {
  const char* launched_as = getenv("OMPI_COMM_WORLD_RANK");
  const int rank = launched_as != NULL ? atoi(launched_as) : 0;
  job_ready(directory, rank);
  if (rank == 1)
    job_wait_for_go(directory);
}

static void leave_pending(const char* directory) {
  enum { elements = 1 << 20, send_tag = 31, receive_tag = 32 };
  static int received;
  static int sent[elements];
  MPI_Comm kept = MPI_COMM_NULL;
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  int rank = 0;
  MPI_Comm_rank(kept, &rank);
  MPI_Comm_set_name(kept, "kept");
  if (rank != 0)
    return;
  MPI_Isend(sent, elements, MPI_INT, 1, send_tag, kept, &requests[0]);
  MPI_Irecv(&received, 1, MPI_INT, 1, receive_tag, kept, &requests[1]);
  job_ready(directory, rank);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: mpi_state DIRECTORY before|late|renamed|inside|after\n");
    return 2;
  }
  const int inside = strcmp(argv[2], "inside") == 0;
  int rank = 0;
  stand_if("before", argv, rank);
  if (strcmp(argv[2], "late") == 0)
    come_late(argv[1]);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[2], "renamed") == 0)
    MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
  stand_if("renamed", argv, rank);
  if (inside)
    leave_pending(argv[1]);
  if (rank == 1)
    stand_if("inside", argv, rank);
  if (inside)
    job_finished(argv[1], rank);
  MPI_Finalize();
  stand_if("after", argv, rank);
  job_finished(argv[1], rank);
  return 0;
}
