// main_ended DIRECTORY COUNT
//
// An MPI process whose main thread has ended (pthread_exit), after COUNT receives from itself with
// the tags 0, 1, 2, ... Three threads live on: one in MPI_Recv for a message of tag COUNT, one that
// says that it is ready, waits for `go` and sends them all, and one that only waits.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char* directory;
static int count;
static MPI_Request* requests;
static pthread_t main_thread, others[3];

static void* receive_last(void* unused) {
  MPI_Recv(NULL, 0, MPI_BYTE, 0, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  pthread_join(others[1], NULL);
  MPI_Finalize();
  job_finished(directory, 0);
  exit(0);
  return unused;
}

static void* send_all(void* unused) {
  pthread_join(main_thread, NULL);
  job_ready(directory, 0);
  job_wait_for_go(directory);
  for (int tag = 0; tag <= count; ++tag)
    MPI_Send(NULL, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  return unused;
}

static void* only_wait(void* unused) {
  for (;;)
    pause();
  return unused;
}

int main(int argc, char** argv) {
  void* (*const work[])(void*) = {receive_last, send_all, only_wait};
  int level = 0;
  count = argc > 2 ? atoi(argv[2]) : 0;
  directory = argv[1];
  if (count <= 0) {
    fprintf(stderr, "usage: main_ended DIRECTORY COUNT\n");
    return 2;
  }
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  requests = calloc((size_t)count, sizeof *requests);
  if (!requests || level != MPI_THREAD_MULTIPLE)
    MPI_Abort(MPI_COMM_WORLD, 8);
  for (int tag = 0; tag < count; ++tag)
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &requests[tag]);
  main_thread = pthread_self();
  for (int i = 0; i < 3; ++i)
    if (pthread_create(&others[i], NULL, work[i], NULL) != 0)
      MPI_Abort(MPI_COMM_WORLD, 8);
  pthread_exit(NULL);
}
