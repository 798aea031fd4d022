// freed_too_early DIRECTORY
//
// Rank 1 frees its copy of a communicator, "shared", before the messages that all others send to it
// there: two of tag 17, and one of the sender's rank + 20. They came, and belong to no communicator
// that rank 1 has. The log (sent.RANK) has a line for each: tag and bytes.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>

enum { receiver = 1, bytes = 8 };

static void send_logged(FILE* log, int tag, MPI_Comm comm) {
  const char data[bytes] = {0};
  MPI_Send(data, bytes, MPI_BYTE, receiver, tag, comm);
  fprintf(log, "%d %d\n", tag, bytes);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Comm shared;
  if (argc != 2)
    return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  MPI_Comm_set_name(shared, "shared");
  MPI_Barrier(shared);
  if (rank == receiver)
    MPI_Comm_free(&shared);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != receiver) {
    FILE* const log = job_open(argv[1], "sent", rank);
    send_logged(log, 17, shared);
    send_logged(log, 17, shared);
    send_logged(log, rank + 20, shared);
    fclose(log);
  }
  MPI_Barrier(MPI_COMM_WORLD); // what came before it has been taken in
  job_ready(argv[1], rank);
  job_wait_for_go(argv[1]);
  if (rank != receiver)
    MPI_Comm_free(&shared);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
