// thread_crowd DIRECTORY THREADS
//
// An MPI process of that many threads of its own. The main thread stands in MPI_Recv, for a message
// that never comes; all others in pause(), a few calls deep. Says that it is ready.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int there_is_work; // never

__attribute__((noinline)) static int wait_for_work(int depth) {
  volatile int here = depth;
  if (depth > 0)
    return wait_for_work(depth - 1) + here;
  while (!there_is_work)
    pause();
  return there_is_work;
}

static void* work(void* unused) {
  wait_for_work(8);
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argc > 2 ? atoi(argv[2]) : 0;
  if (threads <= 0) {
    fprintf(stderr, "usage: thread_crowd DIRECTORY THREADS\n");
    return 2;
  }
  int level = 0;
  int message = 0;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
      MPI_Abort(MPI_COMM_WORLD, 8);
  }
  job_ready(argv[1], 0);
  MPI_Recv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
