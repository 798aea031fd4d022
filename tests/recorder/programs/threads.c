/* Four threads of each of two processes at MPI_THREAD_MULTIPLE, each with the same thread of the
 * other one, over one communicator. They are done with all requests at the end. */

#include "tests/recorder/programs/expected.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, rounds = 40, window = 8 };
static MPI_Comm comm;
static int me, other;

static void window_of_messages(int tag, int round) {
  MPI_Request requests[2 * window];
  MPI_Status status;
  int numbers[window], sent[window], index = -1, flag = 0;
  for (int i = 0; i < window; ++i) {
    MPI_Irecv(&numbers[i], 1, MPI_INT, other, tag, comm, &requests[i]);
    sent[i] = round * window + i;
  }
  for (int i = 0; i < window; ++i)
    MPI_Isend(&sent[i], 1, MPI_INT, other, tag, comm, &requests[window + i]);
  switch (round % 4) {
  case 0:
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
    break;
  case 1:
    for (int i = 0; i < 2 * window; ++i)
      MPI_Waitany(2 * window, requests, &index, &status);
    break;
  case 2:
    while (!flag)
      MPI_Testall(2 * window, requests, &flag, MPI_STATUSES_IGNORE);
    break;
  default:
    for (int i = 0; i < 2 * window; ++i)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < window; ++i)
    REQUIRE(numbers[i] == round * window + i);
}

static void* work(void* argument) {
  const int tag = (int)(intptr_t)argument;
  for (int round = 0; round < rounds; ++round) {
    int number = -1;
    window_of_messages(tag, round);
    MPI_Sendrecv(&round, 1, MPI_INT, other, tag, &number, 1, MPI_INT, other, tag, comm,
                 MPI_STATUS_IGNORE);
    REQUIRE(number == round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  REQUIRE(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &me);
  other = 1 - me;
  MPI_Comm_set_name(comm, "shared");
  expect_communicator(comm, "shared");
  for (int i = 0; i < threads; ++i)
    pthread_create(&all[i], NULL, work, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i)
    pthread_join(all[i], NULL);
  const int messages = rounds * (window + 1);
  for (int i = 0; i < threads; ++i)
    expect_count("shared", other, i, messages, messages);
  expect_returned("shared", (uint32_t)(threads * messages));
  CHECK();
  if (recorder() != NULL)
    REQUIRE(recorder()->thread_level == MQR_LEVEL_MULTIPLE && (recorder()->flags & MQR_GAPS) == 0);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  passed("threads");
  return 0;
}
