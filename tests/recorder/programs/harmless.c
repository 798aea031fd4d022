/* What a program does beside MPI, or at the wrong time. The argument says what. */

#include "tests/recorder/programs/expected.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child has no queues, and may run programs; the parent's are as they were. */
static void forks(void) {
  int number = 0, sent = 0, state = 0;
  MPI_Request request;
  MPI_Irecv(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  for (int runs = 0; runs < 2; ++runs) {
    const pid_t child = fork();
    if (child == 0) {
      if (recorder() != NULL)
        REQUIRE(recorder()->state != MQR_INITIALIZED && recorder()->communicators.first.word == 0);
      if (runs)
        execlp("true", "true", (char*)NULL);
      _exit(0);
    }
    REQUIRE(waitpid(child, &state, 0) == child && state == 0);
  }
  REQUIRE(system("exit 7") >> 8 == 7);
  if (recorder() != NULL)
    REQUIRE(recorded_operation("MPI_COMM_SELF", MQR_RECEIVE, 1) != NULL);
  MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Loading it once more, and closing that, leaves it where it is. */
static void closes(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW);
  REQUIRE(handle != NULL);
  REQUIRE(dlclose(handle) == 0 && dlclose(dlopen(library, RTLD_NOW)) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void answer(MPI_Comm* where, int* code, ...) {
  (void)code;
  int number = 0, received = 0;
  MPI_Sendrecv(&number, 1, MPI_INT, 0, 3, &received, 1, MPI_INT, 0, 3, *where, MPI_STATUS_IGNORE);
}
static void forget(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
}

/* What a callback of the program sends is in no list, and the recorder says that it lacks it. */
static void calls_back(void) {
  int number = 0;
  MPI_Errhandler handler;
  for (int sends = 0; sends < 2; ++sends) {
    MPI_Comm_create_errhandler(sends ? answer : forget, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Send(&number, 1, MPI_INT, 5, 1, MPI_COMM_SELF); /* there is no such rank */
    if (recorder() != NULL)
      REQUIRE(((recorder()->flags & MQR_GAPS) != 0) == (sends != 0));
  }
}

int main(int argc, char** argv) {
  int flag = 1;
  REQUIRE(argc > 1);
  MPI_Initialized(&flag);
  REQUIRE(!flag);
  if (strcmp(argv[1], "early") == 0) /* the MPI's own complaint ends the program */
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Init(&argc, &argv);
  if (strcmp(argv[1], "fork") == 0)
    forks();
  if (strcmp(argv[1], "close") == 0)
    closes(argv[2]);
  if (strcmp(argv[1], "callback") == 0)
    calls_back();
  if (strcmp(argv[1], "abort") == 0)
    MPI_Abort(MPI_COMM_WORLD, 42);
  MPI_Finalize();
  MPI_Finalized(&flag);
  REQUIRE(flag);
  if (strcmp(argv[1], "late") == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  if (recorder() != NULL)
    REQUIRE(recorder()->state == MQR_FINALIZED);
  passed(argv[1]);
  return 0;
}
