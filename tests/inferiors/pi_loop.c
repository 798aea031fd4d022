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
