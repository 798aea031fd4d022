// An Open MPI process without a job that posts known operations to itself, says "ready", and waits
// for the end of its input. What it posts: see openmpi_process_test.cpp.

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { above_eager = 1 << 20 };

static void wait_for_end_of_input(void) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

static int no_query(void* state, MPI_Status* status) {
  (void)state;
  (void)status;
  return MPI_SUCCESS;
}

static int no_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int no_cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "early") == 0) { // before MPI_Init
    puts("ready");
    fflush(stdout);
    wait_for_end_of_input();
    return 0;
  }
  static int small[16];
  static char large[above_eager];
  MPI_Comm named;
  MPI_Comm renamed;
  MPI_Request requests[10];

  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  MPI_Comm_set_name(named, "old name");
  MPI_Comm_free(&named);
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  MPI_Comm_dup(MPI_COMM_WORLD, &renamed);
  MPI_Comm_set_name(renamed, "the-name-of-a-communicator-that-is-just-as-long-as-MPI-allows-63");

  MPI_Irecv(small, 4, MPI_INT, 0, 17, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(small + 4, 4, MPI_INT, MPI_ANY_SOURCE, 18, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(small + 8, 2, MPI_DOUBLE, 0, MPI_ANY_TAG, renamed, &requests[2]);
  MPI_Irecv(small, 4, MPI_INT, MPI_PROC_NULL, 19, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(large, above_eager, MPI_CHAR, 0, 20, named, &requests[4]);
  MPI_Issend(small, 1, MPI_INT, 0, 21, named, &requests[5]);
  MPI_Recv_init(small, 1, MPI_INT, 0, 22, MPI_COMM_WORLD, &requests[6]); // never started
  MPI_Recv_init(small, 1, MPI_INT, 0, 23, MPI_COMM_WORLD, &requests[7]);
  MPI_Start(&requests[7]);
  // Complete and not freed.
  MPI_Irecv(small + 12, 1, MPI_INT, 0, 24, MPI_COMM_WORLD, &requests[8]);
  MPI_Send(small, 1, MPI_INT, 0, 24, MPI_COMM_WORLD);
  int flag = 0;
  MPI_Request_get_status(requests[8], &flag, MPI_STATUS_IGNORE);

  if (argc > 1 && strcmp(argv[1], "generalized") == 0)
    MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &requests[9]);

  printf("ready %p %p\n", (void*)small, (void*)large);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "waitall") == 0)
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); // for ever
  wait_for_end_of_input();
  _exit(0);
}
