// A job that computes, communicates and ends by itself: what must not be disturbed. Prints pi and
// checks it.
//   pi_loop DIRECTORY [ROUNDS]
// It also sleeps a little each round, in a system call that a debugger's stop can interrupt.

#include "tests/inferiors/job_files.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double partial_sum(int rank, int size, int round) {
  enum { terms = 20000 };
  double sum = 0;
  for (long i = rank; i < terms; i += size) {
    const long n = (long)round * terms + i;
    sum += (n % 2 ? -4.0 : 4.0) / (double)(2 * n + 1);
  }
  return sum;
}

static void rest(void) {
  struct timespec left = {0, 2 * 1000 * 1000};
  while (nanosleep(&left, &left) != 0) {
  }
}

/// A value goes round all ranks, and comes back as it was.
__attribute__((noinline)) static int pass_on(double value, int rank, int size) {
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  double came = 0;
  if (rank == 0)
    MPI_Send(&value, 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
  MPI_Recv(&came, 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0)
    MPI_Send(&came, 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
  return came == value;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: pi_loop DIRECTORY [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  int rank = -1;
  int size = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  job_ready(argv[1], rank);
  double pi = 0;
  for (int round = 0; round < rounds; ++round) {
    const double mine = partial_sum(rank, size, round);
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    pi += all;
    if (!pass_on(all, rank, size)) {
      fprintf(stderr, "rank %d: another value came\n", rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    rest();
  }
  MPI_Finalize();
  if (fabs(pi - 3.14159265358979) > 1e-4) {
    fprintf(stderr, "rank %d: pi is %f\n", rank, pi);
    return 1;
  }
  job_finished(argv[1], rank);
  return 0;
}
