/* What the recorder says of a call while a thread is in it. Runs with tool.c: behind the recorder
 * the tool tells this program of each call that it is in; before it, of the same calls. */

#include "tests/recorder/programs/expected.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int told;           /* calls of the tool's */
static const char* within; /* MPI calls itself inside of this call; NULL: of none */
static void (*check)(const struct mqr_thread* thread);
static int me, other;
static MPI_Comm comm;

void recorder_test_inside(const char* function);
void recorder_test_inside(const char* function) {
  ++told;
  const char* const where = getenv("RECORDER_TEST_TOOL");
  if (recorder() == NULL || where == NULL || strcmp(where, "behind") != 0)
    return;
  const struct mqr_thread* const thread = recorded_thread();
  Dl_info here, site;
  REQUIRE(thread != NULL && thread->changes % 2 == 0);
  REQUIRE(strcmp(mqr_function_name(thread->function), within != NULL ? within : function) == 0);
  REQUIRE(dladdr((void*)recorder_test_inside, &here) != 0);
  REQUIRE(dladdr((void*)thread->site.word, &site) != 0 && site.dli_fbase == here.dli_fbase);
  if (check != NULL)
    check(thread);
}

/* `call` is made once, and seen by `how` while it is under way. */
#define SEEN(how, call)                                                                            \
  do {                                                                                             \
    const int before = told;                                                                       \
    check = how;                                                                                   \
    call;                                                                                          \
    check = NULL;                                                                                  \
    REQUIRE(getenv("RECORDER_TEST_TOOL") == NULL || told == before + 1);                           \
  } while (0)

static const struct mqr_operation* waited(enum mqr_queue queue, int tag,
                                          const struct mqr_thread* thread) {
  const struct mqr_operation* const operation = recorded_operation("pair", queue, tag);
  REQUIRE(operation != NULL && thread->wait != 0 && operation->wait == thread->wait);
  REQUIRE(operation->peer == other || operation->peer == MQR_ANY_SOURCE);
  return operation;
}

static void on_pair(const struct mqr_thread* thread) {
  REQUIRE((const struct mqr_communicator*)thread->communicator.word ==
          recorded_communicator("pair"));
}

static void send_1(const struct mqr_thread* thread) {
  REQUIRE(waited(MQR_SEND, 1, thread)->flags ==
          (MQR_BLOCKING | (uint32_t)MQR_Send << MQR_FUNCTION_SHIFT));
  REQUIRE(thread->needed == 1 && thread->unseen == 0);
  on_pair(thread);
}
static void ssend_1(const struct mqr_thread* thread) {
  REQUIRE(waited(MQR_SEND, 1, thread)->flags ==
          (MQR_BLOCKING | MQR_SYNCHRONOUS | (uint32_t)MQR_Ssend << MQR_FUNCTION_SHIFT));
  on_pair(thread);
}
static void receive_1(const struct mqr_thread* thread) {
  REQUIRE((waited(MQR_RECEIVE, 1, thread)->flags & MQR_BLOCKING) != 0 && thread->needed == 1);
  REQUIRE(thread->has_sequence == 0 && thread->root == MQR_NO_ROOT);
  on_pair(thread);
}
static void probe_1(const struct mqr_thread* thread) {
  REQUIRE((waited(MQR_RECEIVE, 1, thread)->flags & (MQR_PROBE | MQR_MPROBE)) != 0);
}
static void both_1(const struct mqr_thread* thread) {
  waited(MQR_SEND, 1, thread);
  waited(MQR_RECEIVE, 1, thread);
  REQUIRE(thread->needed == 2 && thread->unseen == 0);
}
static void all_2_3(const struct mqr_thread* thread) {
  waited(MQR_RECEIVE, 2, thread);
  waited(MQR_RECEIVE, 3, thread);
  REQUIRE(thread->needed == 2 && thread->unseen == 0);
}
static void any_2_3(const struct mqr_thread* thread) {
  waited(MQR_RECEIVE, 2, thread);
  waited(MQR_RECEIVE, 3, thread);
  REQUIRE(thread->needed == 1 && thread->unseen == 0);
}
static void only_3(const struct mqr_thread* thread) {
  REQUIRE(recorded_operation("pair", MQR_RECEIVE, 2) == NULL);
  waited(MQR_RECEIVE, 3, thread);
  REQUIRE(thread->needed == 1 && thread->unseen == 0);
}
static void bcast_from_1(const struct mqr_thread* thread) {
  on_pair(thread);
  REQUIRE(thread->has_sequence && thread->root == 1);
  REQUIRE(thread->sequence + 1 == recorded_communicator("pair")->collectives);
}
static void nonblocking_bcast(const struct mqr_thread* thread) {
  const struct mqr_communicator* const pair = recorded_communicator("pair");
  const struct mqr_collective* const collective =
      (const struct mqr_collective*)pair->under_way.first.word;
  REQUIRE(collective != NULL && collective->function == MQR_Ibcast && collective->root == 1);
  REQUIRE(collective->sequence + 1 == pair->collectives && collective->wait == thread->wait);
  REQUIRE(thread->wait != 0 && thread->needed == 1 && thread->unseen == 0);
}
/* The collectives of a window or file are counted by themselves. */
static void on_object(const struct mqr_thread* thread, const char* name, uint32_t sequence) {
  const struct mqr_communicator* const object = recorded_communicator(name);
  REQUIRE(object != NULL && (object->flags & MQR_INTERNAL) != 0);
  REQUIRE(object->size == 2 && object->local_rank == me && object->known == 0);
  REQUIRE((const struct mqr_communicator*)thread->communicator.word == object);
  REQUIRE(thread->has_sequence && thread->sequence == sequence);
  REQUIRE(object->collectives == sequence + 1);
}
static void fence(const struct mqr_thread* thread) {
  on_object(thread, "window", 0);
}
static void file_write(const struct mqr_thread* thread) {
  on_object(thread, "file inside", 1);
}
static void freeing(const struct mqr_thread* thread) {
  on_pair(thread);
  REQUIRE(thread->has_sequence);
}

static void messages(void) {
  int number = me;
  MPI_Message message;
  MPI_Request requests[2];
  int index = -1;
  if (me == 0) {
    SEEN(send_1, MPI_Send(&number, 1, MPI_INT, other, 1, comm));
    SEEN(ssend_1, MPI_Ssend(&number, 1, MPI_INT, other, 1, comm));
    MPI_Send(&number, 1, MPI_INT, other, 1, comm);
  } else {
    SEEN(receive_1, MPI_Recv(&number, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE));
    SEEN(probe_1, MPI_Probe(other, 1, comm, MPI_STATUS_IGNORE));
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    SEEN(probe_1, MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, MPI_STATUS_IGNORE));
    MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  SEEN(both_1, MPI_Sendrecv(&me, 1, MPI_INT, other, 1, &number, 1, MPI_INT, other, 1, comm,
                            MPI_STATUS_IGNORE));
  REQUIRE(number == other);
  int numbers[2];
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&numbers[i], 1, MPI_INT, MPI_ANY_SOURCE, 2 + i, comm, &requests[i]);
  for (int i = 0; i < 2; ++i)
    MPI_Send(&me, 1, MPI_INT, other, 2 + i, comm);
  SEEN(all_2_3, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&numbers[i], 1, MPI_INT, other, 2 + i, comm, &requests[i]);
  MPI_Send(&me, 1, MPI_INT, other, 2, comm);
  SEEN(any_2_3, MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
  REQUIRE(index == 0);
  MPI_Send(&me, 1, MPI_INT, other, 3, comm);
  SEEN(only_3, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void collectives(void) {
  MPI_Request request;
  MPI_Win window;
  int number = me;
  SEEN(bcast_from_1, MPI_Bcast(&number, 1, MPI_INT, 1, comm));
  REQUIRE(number == 1);
  /* Not complete before the other one joins in. */
  if (me == 0) {
    MPI_Ibcast(&number, 1, MPI_INT, 1, comm, &request);
    MPI_Send(&me, 1, MPI_INT, other, 5, comm);
    SEEN(nonblocking_bcast, MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    MPI_Recv(&number, 1, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE);
    MPI_Ibcast(&number, 1, MPI_INT, 1, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, comm, &window);
  SEEN(fence, MPI_Win_fence(0, window));
  MPI_Win_free(&window);
  REQUIRE(recorder() == NULL || recorded_communicator("window") == NULL);
  SEEN(freeing, MPI_Comm_free(&comm));
}

static void files(void) {
  char directory[] = "/tmp/recorder-XXXXXX";
  char name[sizeof directory + sizeof "/inside"];
  MPI_File file;
  if (me == 0)
    REQUIRE(mkdtemp(directory) != NULL);
  MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "%s/inside", directory);
  within = "MPI_File_open";
  REQUIRE(MPI_File_open(MPI_COMM_WORLD, name,
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
  within = "MPI_File_set_size";
  MPI_File_set_size(file, 0);
  within = "MPI_File_write_at_all";
  check = file_write;
  const int before = told;
  MPI_File_write_at_all(file, me, &me, 1, MPI_BYTE, MPI_STATUS_IGNORE);
  REQUIRE(getenv("RECORDER_TEST_TOOL") == NULL || told > before);
  check = NULL;
  within = "MPI_File_close";
  MPI_File_close(&file);
  within = NULL;
  REQUIRE(recorder() == NULL || recorded_communicator("file inside") == NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0)
    rmdir(directory);
}

static void finalizing(const struct mqr_thread* thread) {
  REQUIRE(thread->function == MQR_Finalize && recorder()->communicators.count > 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "pair");
  MPI_Comm_rank(comm, &me);
  other = 1 - me;
  expect_communicator(comm, "pair");
  messages();
  collectives();
  files();
  expect_freed("pair");
  SEEN(finalizing, MPI_Finalize());
  passed("inside");
  return 0;
}
