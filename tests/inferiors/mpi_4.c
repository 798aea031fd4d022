// What came with MPI-4.
//   mpi_4 DIRECTORY session
// A job without MPI_COMM_WORLD: a session, and one communicator "session" of all its ranks. Every
// rank receives from its left neighbour there, and nobody sends.
//   mpi_4 DIRECTORY partitioned
// Every rank sends four partitions to its right neighbour and never says that the last two are
// ready: all stand in MPI_Waitall.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ring_tag = 17, partitions = 4, ready_partitions = 2, in_each = 256 };

struct ring {
  MPI_Comm communicator;
  int rank, left, right;
};

static struct ring ring_of(MPI_Comm communicator) {
  struct ring ring = {communicator, -1, -1, -1};
  int size = 0;
  MPI_Comm_rank(communicator, &ring.rank);
  MPI_Comm_size(communicator, &size);
  ring.left = (ring.rank + size - 1) % size;
  ring.right = (ring.rank + 1) % size;
  return ring;
}

static void be_ready(const char* directory, const struct ring* ring) {
  MPI_Barrier(ring->communicator);
  job_ready(directory, ring->rank);
  alarm(job_lifetime_seconds); // whoever started it may have died
}

static void in_session(const char* directory) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm communicator;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "mqbridge", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &communicator);
  MPI_Comm_set_name(communicator, "session");
  const struct ring ring = ring_of(communicator);
  be_ready(directory, &ring);
  int token = 0;
  MPI_Recv(&token, 1, MPI_INT, ring.left, ring_tag, communicator, MPI_STATUS_IGNORE);
}

static void partitioned(const char* directory) {
  static double from[partitions * in_each];
  static double to[partitions * in_each];
  MPI_Init(NULL, NULL);
  const struct ring ring = ring_of(MPI_COMM_WORLD);
  MPI_Request requests[2];
  MPI_Psend_init(from, partitions, in_each, MPI_DOUBLE, ring.right, 5, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(to, partitions, in_each, MPI_DOUBLE, ring.left, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  MPI_Startall(2, requests);
  for (int i = 0; i < ready_partitions; ++i)
    MPI_Pready(i, requests[0]);
  be_ready(directory, &ring);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[2], "session") == 0)
    in_session(argv[1]);
  else if (argc == 3 && strcmp(argv[2], "partitioned") == 0)
    partitioned(argv[1]);
  else {
    fprintf(stderr, "usage: mpi_4 DIRECTORY session|partitioned\n");
    return 2;
  }
  return 0;
}
