/* What bindings.F90 asks of the recorder, which only C can read. */

#include "tests/recorder/programs/expected.h"

void check_posted_(void);
void check_done_(void);
void tell_passed_(void);

static int other;
static int receive;

void check_posted_(void) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  other = 1 - me;
  expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  receive = expect_begin("MPI_COMM_WORLD", MQR_RECEIVE, MQR_Irecv, other, 7, 16, 0);
  CHECK();
}

void check_done_(void) {
  expect_end(receive);
  expect_count("MPI_COMM_WORLD", other, 7, 1, 1);
  expect_returned("MPI_COMM_WORLD", 1);
  expect_collectives("MPI_COMM_WORLD", 2);
  CHECK();
}

void tell_passed_(void) {
  passed("bindings");
}
