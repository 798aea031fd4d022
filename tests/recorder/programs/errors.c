/* Calls that fail, with error handlers that return. The codes are those of MPI, each handler is
 * called as often as without a recorder, and what failed left nothing behind. */

#include "tests/recorder/programs/expected.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm comm;
static int handled;

static void handle(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  ++handled;
}

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void bad_arguments(void) {
  int number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  REQUIRE(class_of(MPI_Send(&number, 1, MPI_INT, 5, 1, comm)) == MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Isend(&number, 1, MPI_INT, 5, 1, comm, &request)) == MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Irecv(&number, 1, MPI_INT, 5, 1, comm, &request)) == MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Irecv(&number, -1, MPI_INT, 0, 1, comm, &request)) == MPI_ERR_COUNT);
  REQUIRE(class_of(MPI_Isend(&number, 1, MPI_DATATYPE_NULL, 0, 1, comm, &request)) == MPI_ERR_TYPE);
  REQUIRE(class_of(MPI_Send_init(&number, 1, MPI_INT, 5, 1, comm, &request)) == MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Probe(5, 1, comm, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Bcast(&number, 1, MPI_INT, 5, comm)) == MPI_ERR_ROOT);
  REQUIRE(handled == 8);
  CHECK(); /* refused: no collective */
  MPI_Barrier(comm);
  expect_collectives("self", 1);
}

/* Which writes neither how many are complete nor which ones. */
static void refused_wait(void) {
  int number = 0, received = 0, count = 2000000000, index = 0;
#ifdef OPEN_MPI
  MPI_Request requests[2] = {MPI_REQUEST_NULL, NULL};
#else
  MPI_Request requests[2] = {MPI_REQUEST_NULL, (MPI_Request)0x2c7fffff};
#endif
  MPI_Irecv(&received, 1, MPI_INT, 0, 6, comm, &requests[0]);
  const int receive = expect_begin("self", MQR_RECEIVE, MQR_Irecv, 0, 6, sizeof(int), 0);
  REQUIRE(class_of(MPI_Waitsome(2, requests, &count, &index, MPI_STATUSES_IGNORE)) ==
          MPI_ERR_REQUEST);
  REQUIRE(class_of(MPI_Testsome(2, requests, &count, &index, MPI_STATUSES_IGNORE)) ==
          MPI_ERR_REQUEST);
  REQUIRE(count == 2000000000);
  CHECK();
  MPI_Send(&number, 1, MPI_INT, 0, 6, comm);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect_end(receive);
  expect_count("self", 0, 6, 1, 1);
  expect_returned("self", 1);
  CHECK();
}

static void truncated(void) {
  int numbers[4] = {0}, sent[4] = {0};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(numbers, 1, MPI_INT, 0, 2, comm, &requests[0]);
  MPI_Irecv(&numbers[1], 1, MPI_INT, 0, 3, comm, &requests[1]);
  const int receives[2] = {expect_begin("self", MQR_RECEIVE, MQR_Irecv, 0, 2, sizeof(int), 0),
                           expect_begin("self", MQR_RECEIVE, MQR_Irecv, 0, 3, sizeof(int), 0)};
  CHECK();
  MPI_Send(sent, 2, MPI_INT, 0, 2, comm);
  MPI_Send(sent, 1, MPI_INT, 0, 3, comm);
  expect_count("self", 0, 2, 1, 0);
  expect_count("self", 0, 3, 1, 0);
  expect_returned("self", 2);
  const int code = MPI_Waitall(2, requests, statuses);
  /* Open MPI forgets the error of a request that is complete before. */
  REQUIRE(code == MPI_SUCCESS || class_of(code) == MPI_ERR_IN_STATUS);
  REQUIRE(code == MPI_SUCCESS || class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
  /* MPI may leave the other one for another call. */
  if (requests[1] != MPI_REQUEST_NULL)
    REQUIRE(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  REQUIRE(requests[0] == MPI_REQUEST_NULL);
  expect_end(receives[0]);
  expect_end(receives[1]);
  expect_count("self", 0, 2, 0, 1);
  expect_count("self", 0, 3, 0, 1);
  CHECK();
  MPI_Irecv(numbers, 1, MPI_INT, 0, 2, comm, &requests[0]);
  MPI_Send(sent, 2, MPI_INT, 0, 2, comm);
  const int alone = class_of(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  REQUIRE(alone == MPI_SUCCESS || alone == MPI_ERR_TRUNCATE);
  expect_count("self", 0, 2, 1, 1);
  expect_returned("self", 1);
  CHECK();
  if (recorder() != NULL)
    REQUIRE((recorder()->flags & MQR_GAPS) == 0); /* nothing is unknown */
}

static jmp_buf home;
static void jump(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  longjmp(home, 1);
}

/* The recorder asks MPI about what it does not know, and the program's handlers hear nothing of it.
 * Open MPI would look into memory that is free. */
static void bad_handles(void) {
#ifdef MPICH_VERSION
  MPI_Comm gone = MPI_COMM_NULL;
  int number = 0;
  MPI_Comm_dup(comm, &gone);
  expect_collectives("self", 1);
  const MPI_Comm freed = gone;
  MPI_Comm_free(&gone);
  handled = 0;
  REQUIRE(class_of(MPI_Barrier(freed)) == MPI_ERR_COMM && handled == 1);
  REQUIRE(class_of(MPI_Send(&number, 1, MPI_INT, 0, 7, freed)) == MPI_ERR_COMM && handled == 2);
  REQUIRE(class_of(MPI_Send(&number, 1, (MPI_Datatype)12345, 0, 7, comm)) == MPI_ERR_TYPE);
  REQUIRE(handled == 3);
  CHECK();
#endif
}

/* Frames below those of the call that was left. */
static int __attribute__((noinline)) deep_down(int depth) {
  volatile char room[4096];
  int number = 0, received = 0;
  MPI_Request request;
  room[depth] = 1;
  if (depth > 0)
    return deep_down(depth - 1) + room[depth];
  MPI_Irecv(&received, 1, MPI_INT, 0, 5, comm, &request);
  if (recorder() != NULL)
    REQUIRE(recorded_operation("self", MQR_RECEIVE, 5) != NULL);
  MPI_Send(&number, 1, MPI_INT, 0, 5, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (recorder() != NULL)
    REQUIRE(recorded_operation("self", MQR_RECEIVE, 5) == NULL);
  return room[depth];
}

/* Received, although it is too long. */
static void truncated_after_mprobe(void) {
  MPI_Message message;
  MPI_Request request;
  int sent[2] = {0, 0}, received = 0;
  MPI_Isend(sent, 2, MPI_INT, 0, 6, comm, &request);
  MPI_Mprobe(0, 6, comm, &message, MPI_STATUS_IGNORE);
  const int class = class_of(MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  REQUIRE(class == MPI_ERR_TRUNCATE || class == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_count("self", 0, 6, 1, 1);
  expect_returned("self", 1);
  CHECK();
}

/* A handler that never returns to MPI, nor to the recorder: the next call is recorded again. */
static void left_by_a_jump(void) {
  MPI_Errhandler handler;
  int number = 0, received = 0;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  if (setjmp(home) == 0) {
    MPI_Send(&number, 1, MPI_INT, 5, 1, comm);
    REQUIRE(!"reached");
  }
  REQUIRE(deep_down(3) > 0);
  MPI_Request request;
  MPI_Irecv(&received, 1, MPI_INT, 0, 4, comm, &request);
  if (recorder() != NULL) {
    REQUIRE(recorded_operation("self", MQR_RECEIVE, 4) != NULL);
    REQUIRE(recorded_thread()->function == MQR_NO_FUNCTION);
    REQUIRE((recorder()->flags & MQR_GAPS) != 0);
  }
  MPI_Send(&number, 1, MPI_INT, 0, 4, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_name(comm, "self");
  expect_communicator(comm, "self");
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* where MPICH says what became of requests */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  bad_arguments();
  CHECK();
  refused_wait();
  truncated();
  truncated_after_mprobe();
  bad_handles();
  left_by_a_jump();
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  passed("errors");
  return 0;
}
