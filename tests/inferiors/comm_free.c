// An MPI process that frees a communicator between two looks at it.
//   comm_free DIRECTORY
// Says that it is ready in DIRECTORY with the communicators "kept" and "doomed"; when the test says
// go in DIRECTORY/free, with "kept" and "fresh" instead, in that directory.

#include "tests/inferiors/job_files.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>

enum { kept_tag = 1, fresh_tag = 2 };

static MPI_Comm duplicate(const char* name) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_name(made, name);
  return made;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: comm_free DIRECTORY\n");
    return 2;
  }
  char after[PATH_MAX];
  snprintf(after, sizeof after, "%s/free", argv[1]);
  MPI_Init(NULL, NULL);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm kept = duplicate("kept");
  MPI_Comm doomed = duplicate("doomed");
  int received[2];
  MPI_Request requests[2];
  MPI_Irecv(&received[0], 1, MPI_INT, rank, kept_tag, kept, &requests[0]);
  job_ready(argv[1], rank);
  job_wait_for_go(after);

  MPI_Comm_free(&doomed);
  MPI_Comm fresh = duplicate("fresh");
  MPI_Irecv(&received[1], 1, MPI_INT, rank, fresh_tag, fresh, &requests[1]);
  job_ready(after, rank);
  job_wait_for_go(argv[1]);

  MPI_Send(&rank, 1, MPI_INT, rank, kept_tag, kept);
  MPI_Send(&rank, 1, MPI_INT, rank, fresh_tag, fresh);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&kept);
  MPI_Comm_free(&fresh);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
