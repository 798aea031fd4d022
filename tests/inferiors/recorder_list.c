// recorder_list DIRECTORY COUNT ARENA_BYTES SEED [signal]
//
// Records COUNT receives on one communicator, with the tags 0, 1, 2, ... and buffers of 8 bytes
// that follow each other. Their nodes lie one behind the other where ARENA_BYTES is 0, else at
// random in arenas of that size. Says that it is ready and waits for `go`; with `signal` it raises
// SIGUSR1 when it is ready, and then comes to its end.

#include "dll/recorder/dll_name.h"
#include "dll/recorder/recorder.h"
#include "tests/inferiors/job_files.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { message_bytes = 8 };

static void nothing(int number) {
  (void)number;
}

static int record(int count, const struct mqr_placement* placement) {
  static const struct mqr_word datatype = {"MPI_DOUBLE"};
  const int32_t world[] = {0, 1};
  const struct mqr_communicator_spec spec = {
      .name = "MPI_COMM_WORLD", .id = 1, .size = 2, .group = world};
  struct mqr_recorded_communicator* communicator = NULL;
  char* const buffers = calloc((size_t)count, message_bytes);
  if (!buffers || mqr_init(placement) != MQR_OK || mqr_communicator_add(&spec, &communicator))
    return 0;
  for (int i = 0; i < count; ++i) {
    const struct mqr_operation_spec operation = {.queue = MQR_RECEIVE,
                                                 .peer = 1,
                                                 .tag = i,
                                                 .length = message_bytes,
                                                 .buffer = buffers + (size_t)i * message_bytes,
                                                 .count = 1,
                                                 .function = MQR_Irecv,
                                                 .datatype = &datatype};
    struct mqr_recorded_operation* begun = NULL;
    if (mqr_operation_begin(communicator, &operation, &begun) != MQR_OK)
      return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  const int count = argc > 4 ? atoi(argv[2]) : 0;
  if (count <= 0) {
    fprintf(stderr, "usage: recorder_list DIRECTORY COUNT ARENA_BYTES SEED [signal]\n");
    return 2;
  }
  const size_t arena = strtoul(argv[3], NULL, 10);
  const struct mqr_placement placement = {
      .shuffled = arena > 0, .arena_bytes = arena, .seed = strtoul(argv[4], NULL, 10)};
  const struct sigaction action = {.sa_handler = nothing};
  if (sigaction(SIGUSR1, &action, NULL) != 0 || !record(count, &placement)) {
    fprintf(stderr, "cannot record %d operations\n", count);
    return 8;
  }
  job_ready(argv[1], 0);
  if (argc > 5 && strcmp(argv[5], "signal") == 0)
    raise(SIGUSR1);
  else
    job_wait_for_go(argv[1]);
  job_finished(argv[1], 0);
  return 0;
}
