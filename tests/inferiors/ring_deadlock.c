// A job that is really deadlocked: every rank receives from its left neighbour before it sends to
// its right one.
//   ring_deadlock DIRECTORY
// On the way it leaves a few more operations pending on communicators with names: a dup "halo",
// splits "row" and "column". It never ends; nothing but the end of the job releases it.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { columns = 2, face_count = 128, edge_count = 8, bulk_count = 1 << 18, ring_tag = 17 };

struct grid {
  MPI_Comm halo;
  MPI_Comm row;
  MPI_Comm column;
};

static struct grid make_grid(int rank) {
  struct grid grid;
  MPI_Comm_dup(MPI_COMM_WORLD, &grid.halo);
  MPI_Comm_set_name(grid.halo, "halo");
  MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &grid.row);
  MPI_Comm_set_name(grid.row, "row");
  // By falling rank, so that ranks in this communicator and in the job differ.
  MPI_Comm_split(MPI_COMM_WORLD, rank % columns, -rank, &grid.column);
  MPI_Comm_set_name(grid.column, "column");
  return grid;
}

// Nobody answers any of these.
static void leave_pending(const struct grid* grid, int left, int right, MPI_Request* requests) {
  static double face[face_count];
  static double edge[edge_count];
  static int anything;
  static float bulk[bulk_count];
  int column_size = 0;
  int column_rank = 0;
  MPI_Comm_size(grid->column, &column_size);
  MPI_Comm_rank(grid->column, &column_rank);
  MPI_Irecv(face, face_count, MPI_DOUBLE, right, 40, grid->halo, &requests[0]);
  MPI_Irecv(&anything, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, grid->row, &requests[1]);
  MPI_Issend(edge, edge_count, MPI_DOUBLE, left, 71, grid->halo, &requests[2]);
  MPI_Isend(bulk, bulk_count, MPI_FLOAT, (column_rank + 1) % column_size, 72, grid->column,
            &requests[3]);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: ring_deadlock DIRECTORY\n");
    return 2;
  }
  int rank = -1;
  int size = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  const struct grid grid = make_grid(rank);
  MPI_Request requests[4];
  leave_pending(&grid, left, right, requests);
  MPI_Barrier(MPI_COMM_WORLD);
  job_ready(argv[1], rank);

  // It never ends by itself, and it spins: whoever started it may have died.
  alarm(job_lifetime_seconds);
  int token = rank;
  MPI_Recv(&token, 1, MPI_INT, left, ring_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&token, 1, MPI_INT, right, ring_tag, MPI_COMM_WORLD);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
