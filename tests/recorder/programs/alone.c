/* One process that sends to itself: requests of every kind, and what the recorder keeps after each
 * step. The results of MPI are checked as well: they are the same without a recorder. */

#include "tests/recorder/programs/expected.h"

#include <stdlib.h>
#include <string.h>

enum { few = 4, many = 100, big = 1 << 18 };
static MPI_Comm comm;
static int sent[big], received[big];

static int begin_send(uint32_t function, int tag, int count, uint32_t flags) {
  if ((flags & MQR_INACTIVE) == 0)
    expect_count("self", 0, tag, 1, 0);
  return expect_begin("self", MQR_SEND, function, 0, tag, (uint64_t)count * sizeof(int), flags);
}

static int begin_receive(uint32_t function, int tag, int count, uint32_t flags) {
  return expect_begin("self", MQR_RECEIVE, function, 0, tag, (uint64_t)count * sizeof(int), flags);
}

static void end_send(int operation) {
  expect_end(operation);
  expect_returned("self", 1);
}

static void end_receive(int operation, int tag) {
  expect_end(operation);
  expect_count("self", 0, tag, 0, 1);
}

static void wait_and_test(void) {
  MPI_Request requests[3];
  MPI_Status status;
  int flag = 1;
  memset(&status, 0, sizeof status);
  MPI_Irecv(received, 2, MPI_INT, 0, 1, comm, &requests[0]);
  const int receive = begin_receive(MQR_Irecv, 1, 2, 0);
  CHECK();
  MPI_Test(&requests[0], &flag, &status);
  REQUIRE(!flag && requests[0] != MPI_REQUEST_NULL);
  CHECK();
  sent[0] = 17;
  MPI_Issend(sent, 1, MPI_INT, 0, 1, comm, &requests[1]);
  const int send = begin_send(MQR_Issend, 1, 1, MQR_SYNCHRONOUS | EXPECT_PERHAPS);
  CHECK();
  MPI_Wait(&requests[0], &status);
  end_receive(receive, 1);
  REQUIRE(requests[0] == MPI_REQUEST_NULL && received[0] == 17);
  REQUIRE(status.MPI_SOURCE == 0 && status.MPI_TAG == 1);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  REQUIRE(count == 1);
  CHECK();
  while (!flag)
    MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
  end_send(send);
  REQUIRE(requests[1] == MPI_REQUEST_NULL);
  CHECK();
  MPI_Wait(&requests[1], &status); /* of no request */
  REQUIRE(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
  CHECK();
}

static void blocking(void) {
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  const int any =
      expect_begin("self", MQR_RECEIVE, MQR_Irecv, MQR_ANY_SOURCE, 0, sizeof(int), MQR_ANY_TAG);
  CHECK();
  MPI_Ssend(sent, 1, MPI_INT, 0, 2, comm);
  expect_count("self", 0, 2, 1, 0);
  expect_returned("self", 1);
  CHECK();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  end_receive(any, 2);
  CHECK();
  sent[0] = 18;
  MPI_Sendrecv(sent, 1, MPI_INT, 0, 3, received, 1, MPI_INT, 0, 3, comm, &status);
  expect_count("self", 0, 3, 1, 1);
  expect_returned("self", 1);
  REQUIRE(received[0] == 18 && status.MPI_TAG == 3);
  CHECK();
  MPI_Sendrecv_replace(sent, 1, MPI_INT, 0, 3, 0, 3, comm, MPI_STATUS_IGNORE);
  expect_count("self", 0, 3, 1, 1);
  expect_returned("self", 1);
  CHECK();
  MPI_Sendrecv(sent, 1, MPI_INT, MPI_PROC_NULL, 3, received, 1, MPI_INT, MPI_PROC_NULL, 3, comm,
               &status);
  MPI_Send(sent, 1, MPI_INT, MPI_PROC_NULL, 3, comm);
  MPI_Recv(received, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &status);
  REQUIRE(status.MPI_SOURCE == MPI_PROC_NULL);
  CHECK();
}

/* MPI may give one handle to all that are complete at once. */
static void small_sends(void) {
  MPI_Request requests[2 * few];
  MPI_Status statuses[2 * few];
  for (int i = 0; i < few; ++i) {
    sent[i] = i;
    MPI_Isend(&sent[i], 1, MPI_INT, 0, 10 + i, comm, &requests[i]);
    expect_count("self", 0, 10 + i, 1, 0);
  }
  for (int i = 0; i < few; ++i)
    MPI_Irecv(&received[i], 1, MPI_INT, 0, 10 + i, comm, &requests[few + i]);
  MPI_Waitall(2 * few, requests, statuses);
  for (int i = 0; i < few; ++i) {
    REQUIRE(received[i] == i && statuses[few + i].MPI_TAG == 10 + i);
    expect_count("self", 0, 10 + i, 0, 1);
  }
  expect_returned("self", few);
  CHECK();
}

static void many_requests(void) {
  MPI_Request requests[2 * many];
  int operations[2 * many];
  for (int i = 0; i < many; ++i) {
    MPI_Irecv(&received[i], 1, MPI_INT, 0, 20, comm, &requests[i]);
    operations[i] = begin_receive(MQR_Irecv, 20, 1, 0);
  }
  CHECK();
  for (int i = 0; i < many; ++i) {
    sent[i] = 1000 + i;
    MPI_Issend(&sent[i], 1, MPI_INT, 0, 20, comm, &requests[many + i]);
    operations[many + i] = begin_send(MQR_Issend, 20, 1, MQR_SYNCHRONOUS | EXPECT_PERHAPS);
  }
  CHECK();
  MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i) {
    REQUIRE(received[i] == 1000 + i);
    end_receive(operations[i], 20);
    end_send(operations[many + i]);
  }
  CHECK();
}

/* Of three receives and a null request, those whose message is there. */
static void any_and_some(void) {
  MPI_Request requests[few];
  MPI_Status statuses[few];
  int operations[few], indices[few], index = -1, flag = 1, count = 0;
  requests[0] = MPI_REQUEST_NULL;
  for (int i = 1; i < few; ++i) {
    MPI_Irecv(&received[i], 1, MPI_INT, 0, 30 + i, comm, &requests[i]);
    operations[i] = begin_receive(MQR_Irecv, 30 + i, 1, 0);
  }
  MPI_Testany(few, requests, &index, &flag, &statuses[0]);
  REQUIRE(!flag && index == MPI_UNDEFINED);
  MPI_Testsome(few, requests, &count, indices, statuses);
  REQUIRE(count == 0);
  MPI_Testall(few, requests, &flag, MPI_STATUSES_IGNORE);
  REQUIRE(!flag);
  CHECK();
  MPI_Send(sent, 1, MPI_INT, 0, 32, comm);
  expect_count("self", 0, 32, 1, 0);
  expect_returned("self", 1);
  CHECK();
  MPI_Waitany(few, requests, &index, &statuses[0]);
  REQUIRE(index == 2 && statuses[0].MPI_TAG == 32 && requests[2] == MPI_REQUEST_NULL);
  end_receive(operations[2], 32);
  CHECK();
  MPI_Send(sent, 1, MPI_INT, 0, 33, comm);
  expect_count("self", 0, 33, 1, 0);
  expect_returned("self", 1);
  MPI_Waitsome(few, requests, &count, indices, MPI_STATUSES_IGNORE);
  REQUIRE(count == 1 && indices[0] == 3);
  end_receive(operations[3], 33);
  CHECK();
  MPI_Send(sent, 1, MPI_INT, 0, 31, comm);
  expect_count("self", 0, 31, 1, 0);
  expect_returned("self", 1);
  for (count = 0; count == 0;)
    MPI_Testsome(few, requests, &count, indices, statuses);
  REQUIRE(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 31);
  end_receive(operations[1], 31);
  CHECK();
  MPI_Waitany(few, requests, &index, MPI_STATUS_IGNORE);
  REQUIRE(index == MPI_UNDEFINED);
  MPI_Waitsome(few, requests, &count, indices, MPI_STATUSES_IGNORE);
  REQUIRE(count == MPI_UNDEFINED);
  CHECK();
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int index = -1;
  MPI_Ssend_init(sent, 1, MPI_INT, 0, 40, comm, &requests[0]);
  int send = begin_send(MQR_Ssend_init, 40, 1, MQR_INACTIVE | MQR_PERSISTENT | MQR_SYNCHRONOUS);
  MPI_Recv_init(received, 1, MPI_INT, 0, 40, comm, &requests[1]);
  int receive = begin_receive(MQR_Recv_init, 40, 1, MQR_INACTIVE | MQR_PERSISTENT);
  CHECK();
  for (int round = 0; round < 3; ++round) {
    sent[0] = 100 + round;
    /* Started, they are in the order of their start. */
    expect_end(receive);
    MPI_Start(&requests[1]);
    receive = begin_receive(MQR_Recv_init, 40, 1, MQR_PERSISTENT);
    CHECK();
    expect_end(send);
    MPI_Start(&requests[0]);
    send = begin_send(MQR_Ssend_init, 40, 1, MQR_PERSISTENT | MQR_SYNCHRONOUS);
    CHECK();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    REQUIRE(received[0] == 100 + round && requests[0] != MPI_REQUEST_NULL);
    end_send(send);
    end_receive(receive, 40);
    send = begin_send(MQR_Ssend_init, 40, 1, MQR_INACTIVE | MQR_PERSISTENT | MQR_SYNCHRONOUS);
    receive = begin_receive(MQR_Recv_init, 40, 1, MQR_INACTIVE | MQR_PERSISTENT);
    CHECK();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* both are inactive */
    CHECK();
  }
  MPI_Waitany(2, requests, &index, &status);
  REQUIRE(index == MPI_UNDEFINED);
  CHECK();
  MPI_Request twice[2] = {requests[1], requests[0]};
  MPI_Startall(2, twice);
  expect_end(send);
  expect_end(receive);
  receive = begin_receive(MQR_Recv_init, 40, 1, MQR_PERSISTENT);
  send = begin_send(MQR_Ssend_init, 40, 1, MQR_PERSISTENT | MQR_SYNCHRONOUS);
  CHECK();
  MPI_Wait(&requests[1], &status);
  end_receive(receive, 40);
  receive = begin_receive(MQR_Recv_init, 40, 1, MQR_INACTIVE | MQR_PERSISTENT);
  CHECK();
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  end_send(send);
  MPI_Request_free(&requests[0]);
  CHECK();
  MPI_Request_free(&requests[1]);
  expect_end(receive);
  CHECK();
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  int is_cancelled = 0;
  MPI_Irecv(received, 1, MPI_INT, 0, 50, comm, &request);
  const int receive = begin_receive(MQR_Irecv, 50, 1, 0);
  MPI_Cancel(&request);
  CHECK();
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &is_cancelled);
  REQUIRE(is_cancelled);
  expect_end(receive); /* it received nothing */
  CHECK();
}

static void freed_requests(void) {
  MPI_Request request;
  MPI_Issend(sent, 1, MPI_INT, 0, 60, comm, &request);
  const int send = begin_send(MQR_Issend, 60, 1, MQR_SYNCHRONOUS);
  CHECK();
  MPI_Request_free(&request);
  REQUIRE(request == MPI_REQUEST_NULL);
  end_send(send);
  CHECK();
  MPI_Recv(received, 1, MPI_INT, 0, 60, comm, MPI_STATUS_IGNORE);
  expect_count("self", 0, 60, 0, 1);
  CHECK();
  MPI_Irecv(&received[1], 1, MPI_INT, 0, 61, comm, &request);
  begin_receive(MQR_Irecv, 61, 1, 0);
  MPI_Request_free(&request); /* pending for ever, for all that the program can know */
  CHECK();
  MPI_Send(sent, 1, MPI_INT, 0, 61, comm);
  expect_count("self", 0, 61, 1, 0);
  expect_returned("self", 1);
  CHECK();
}

static void taken_messages(void) {
  MPI_Request sends[2];
  int operations[2];
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int flag = 0;
  MPI_Improbe(0, 70, comm, &flag, &message, &status);
  REQUIRE(!flag);
  CHECK();
  for (int i = 0; i < 2; ++i) {
    MPI_Issend(sent, 3, MPI_INT, 0, 70, comm, &sends[i]);
    operations[i] = begin_send(MQR_Issend, 70, 3, MQR_SYNCHRONOUS);
  }
  MPI_Probe(0, 70, comm, &status);
  MPI_Iprobe(0, 70, comm, &flag, MPI_STATUS_IGNORE);
  REQUIRE(flag && status.MPI_TAG == 70);
  CHECK();
  MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE);
  expect_count("self", 0, 70, 0, 1);
  int taken = expect_begin("self", MQR_UNEXPECTED, MQR_Mprobe, 0, 70, 12, MQR_TAKEN);
  CHECK();
  MPI_Mrecv(received, 3, MPI_INT, &message, &status);
  REQUIRE(message == MPI_MESSAGE_NULL && status.MPI_TAG == 70);
  expect_end(taken);
  CHECK();
  while (!flag || message == MPI_MESSAGE_NULL)
    MPI_Improbe(0, 70, comm, &flag, &message, &status);
  expect_count("self", 0, 70, 0, 1);
  taken = expect_begin("self", MQR_UNEXPECTED, MQR_Improbe, 0, 70, 12, MQR_TAKEN);
  CHECK();
  MPI_Imrecv(received, 3, MPI_INT, &message, &request);
  CHECK();
  MPI_Wait(&request, &status);
  REQUIRE(status.MPI_TAG == 70);
  expect_end(taken);
  CHECK();
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  end_send(operations[0]);
  end_send(operations[1]);
  CHECK();
  MPI_Mprobe(MPI_PROC_NULL, 70, comm, &message, &status);
  REQUIRE(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(received, 3, MPI_INT, &message, &status);
  REQUIRE(status.MPI_SOURCE == MPI_PROC_NULL);
  CHECK();
}

static void buffered(void) {
  static char memory[4096];
  void* detached = NULL;
  int size = 0;
  MPI_Request request;
  MPI_Buffer_attach(memory, sizeof memory);
  MPI_Bsend(sent, 1, MPI_INT, 0, 80, comm);
  expect_returned("self", 1);
  MPI_Ibsend(sent, 1, MPI_INT, 0, 80, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_returned("self", 1);
  expect_count("self", 0, 80, 2, 0);
  CHECK();
  for (int i = 0; i < 2; ++i)
    MPI_Recv(received, 1, MPI_INT, 0, 80, comm, MPI_STATUS_IGNORE);
  expect_count("self", 0, 80, 0, 2);
  MPI_Buffer_detach(&detached, &size);
  REQUIRE(detached == memory && size == sizeof memory);
  CHECK();
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

/* A generalized request is nobody's message. */
static void generalized(void) {
  MPI_Request requests[2];
  MPI_Grequest_start(query, release, cancel, NULL, &requests[0]);
  MPI_Irecv(received, 1, MPI_INT, 0, 90, comm, &requests[1]);
  const int receive = begin_receive(MQR_Irecv, 90, 1, 0);
  CHECK();
  MPI_Grequest_complete(requests[0]);
  MPI_Send(sent, 1, MPI_INT, 0, 90, comm);
  expect_count("self", 0, 90, 1, 0);
  expect_returned("self", 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  end_receive(receive, 90);
  CHECK();
}

static void derived_types(void) {
  MPI_Datatype pair;
  MPI_Request request;
  MPI_Type_contiguous(3, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_set_name(pair, "three integers, with a long name");
  MPI_Irecv(received, 2, pair, 0, 91, comm, &request);
  const int receive = begin_receive(MQR_Irecv, 91, 6, 0);
  CHECK();
  if (recorder() != NULL)
    REQUIRE(strcmp(recorded_operation("self", MQR_RECEIVE, 91)->datatype,
                   "three integers, with a ") == 0);
  MPI_Type_free(&pair);
  MPI_Type_contiguous(5, MPI_INT, &pair); /* perhaps by the same handle */
  MPI_Type_commit(&pair);
  MPI_Send(sent, 1, pair, 0, 91, comm);
  expect_count("self", 0, 91, 1, 1);
  expect_returned("self", 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_end(receive);
  CHECK();
  MPI_Irecv(received, 2, pair, 0, 92, comm, &request);
  const int other = begin_receive(MQR_Irecv, 92, 10, 0);
  CHECK();
  MPI_Send(sent, 1, pair, 0, 92, comm);
  expect_count("self", 0, 92, 1, 1);
  expect_returned("self", 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_end(other);
  MPI_Type_free(&pair);
  CHECK();
}

/* The same functions for large counts. */
static void large_counts(void) {
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Irecv_c(received, 2, MPI_INT, 0, 94, comm, &request);
  const int receive = begin_receive(MQR_Irecv, 94, 2, 0);
  CHECK();
  MPI_Send_c(sent, 2, MPI_INT, 0, 94, comm);
  expect_count("self", 0, 94, 1, 0);
  expect_returned("self", 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  end_receive(receive, 94);
  CHECK();
  MPI_Bcast_c(sent, 1, MPI_INT, 0, comm);
  MPI_Iallreduce_c(sent, received, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_collectives("self", 2);
  CHECK();
#endif
}

/* What begins while recording is off is in no list; what had begun before ends. */
static void switched_off(void) {
  MPI_Request requests[2];
  MPI_Irecv(received, 1, MPI_INT, 0, 93, comm, &requests[0]);
  const int receive = begin_receive(MQR_Irecv, 93, 1, 0);
  MPI_Pcontrol(0);
  if (recorder() != NULL)
    REQUIRE((recorder()->flags & MQR_OFF) != 0);
  MPI_Irecv(&received[1], 1, MPI_INT, 0, 93, comm, &requests[1]);
  CHECK();
  MPI_Send(sent, 1, MPI_INT, 0, 93, comm);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect_end(receive);
  expect_count("self", 0, 93, 0, 1);
  CHECK();
  MPI_Pcontrol(1);
  if (recorder() != NULL)
    REQUIRE((recorder()->flags & (MQR_OFF | MQR_GAPS)) == MQR_GAPS);
  MPI_Send(sent, 1, MPI_INT, 0, 93, comm);
  expect_count("self", 0, 93, 1, 0);
  expect_returned("self", 1);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  CHECK();
  MPI_Pcontrol(2, "with", "more");
  CHECK();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_name(comm, "self");
  expect_communicator(comm, "self");
  CHECK();
  wait_and_test();
  blocking();
  small_sends();
  many_requests();
  any_and_some();
  persistent();
  cancelled();
  taken_messages();
  buffered();
  generalized();
  derived_types();
  large_counts();
  freed_requests();
  if (recorder() != NULL)
    REQUIRE((recorder()->flags & MQR_GAPS) == 0);
  switched_off();
  MPI_Comm_free(&comm); /* a receive is pending on it */
  if (recorder() != NULL)
    REQUIRE((recorded_communicator("self")->flags & MQR_FREED) != 0);
  MPI_Finalize();
  if (recorder() != NULL)
    REQUIRE(recorder()->state == MQR_FINALIZED);
  passed("alone");
  return 0;
}
