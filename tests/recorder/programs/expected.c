#include "tests/recorder/programs/expected.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most = 64, most_operations = 512 };

struct count {
  int peer, tag;
  uint32_t sent, received;
};
struct communicator {
  char name[MQR_NAME_SIZE];
  int size, rank, count_count;
  uint32_t returned, collectives, under_way;
  struct count counts[most];
};
struct operation {
  int communicator; /* -1: it has ended */
  enum mqr_queue queue;
  uint32_t function, flags;
  int peer, tag;
  uint64_t bytes;
};
static struct communicator communicators[most];
static int communicator_count;
static struct operation operations[most_operations];
static int operation_count;

void require(int holds, const char* condition, const char* file, int line) {
  if (holds)
    return;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  fflush(stderr);
  _exit(3);
}

const struct mqr_root* recorder(void) {
  const struct mqr_root* const root = (const struct mqr_root*)dlsym(RTLD_DEFAULT, MQR_ROOT_SYMBOL);
  REQUIRE(root != NULL || getenv("RECORDER_TEST_RECORDED") == NULL);
  return root;
}

static struct communicator* find(const char* name) {
  for (int i = 0; i < communicator_count; ++i) {
    if (strcmp(communicators[i].name, name) == 0)
      return &communicators[i];
  }
  REQUIRE(!"a communicator that is expected");
  return NULL;
}

void expect_communicator(MPI_Comm comm, const char* name) {
  REQUIRE(communicator_count < most);
  struct communicator* const added = &communicators[communicator_count++];
  memset(added, 0, sizeof *added);
  strcpy(added->name, name);
  MPI_Comm_size(comm, &added->size);
  MPI_Comm_rank(comm, &added->rank);
  const struct mqr_communicator* const seen =
      recorder() != NULL ? recorded_communicator(name) : NULL;
  added->collectives = seen != NULL ? seen->collectives : 0;
}

void expect_freed(const char* name) {
  find(name)->name[0] = '\0';
  if (recorder() != NULL)
    REQUIRE(recorded_communicator(name) == NULL);
}

int expect_begin(const char* name, enum mqr_queue queue, uint32_t function, int peer, int tag,
                 uint64_t bytes, uint32_t flags) {
  REQUIRE(operation_count < most_operations);
  const int at = (int)(find(name) - communicators);
  operations[operation_count] = (struct operation){at, queue, function, flags, peer, tag, bytes};
  return operation_count++;
}

void expect_end(int operation) {
  operations[operation].communicator = -1;
}

void expect_count(const char* name, int peer, int tag, int sent, int received) {
  struct communicator* const known = find(name);
  int i = 0;
  while (i < known->count_count && (known->counts[i].peer != peer || known->counts[i].tag != tag))
    ++i;
  REQUIRE(i < most);
  if (i == known->count_count)
    known->counts[known->count_count++] = (struct count){peer, tag, 0, 0};
  known->counts[i].sent += (uint32_t)sent;
  known->counts[i].received += (uint32_t)received;
}

void expect_returned(const char* name, uint32_t more) {
  find(name)->returned += more;
}
void expect_collectives(const char* name, uint32_t more) {
  find(name)->collectives += more;
}
void expect_under_way(const char* name, uint32_t count) {
  find(name)->under_way = count;
}

static const void* at(const struct mqr_slot* slot) {
  return (const void*)slot->word;
}

const struct mqr_communicator* recorded_communicator(const char* name) {
  const struct mqr_communicator* communicator = at(&recorder()->communicators.first);
  while (communicator != NULL && strcmp(at(&communicator->name), name) != 0)
    communicator = at(&communicator->node.next);
  return communicator;
}

const struct mqr_operation* recorded_operation(const char* name, enum mqr_queue queue, int tag) {
  const struct mqr_communicator* const communicator = recorded_communicator(name);
  const struct mqr_operation* operation =
      communicator != NULL ? at(&communicator->queues[queue].first) : NULL;
  while (operation != NULL && operation->tag != tag)
    operation = at(&operation->node.next);
  return operation;
}

const struct mqr_thread* recorded_thread(void) {
  const struct mqr_thread* thread = at(&recorder()->threads.first);
  while (thread != NULL && thread->thread != syscall(SYS_gettid))
    thread = at(&thread->node.next);
  return thread;
}

/* Those of version 1.1. */
static uint32_t own_flags(const struct mqr_operation* seen) {
  return seen->flags & (2U * MQR_PERSISTENT - 1);
}

static void check_operation(const struct mqr_operation* seen, const struct operation* expected) {
  REQUIRE(seen != NULL);
  REQUIRE(seen->node.magic == MQR_MAGIC_OPERATION && seen->node.kind == expected->queue);
  REQUIRE(strcmp(seen->call, mqr_function_name(expected->function)) == 0);
  REQUIRE(seen->flags >> MQR_FUNCTION_SHIFT == expected->function);
  REQUIRE(own_flags(seen) == (expected->flags & ~EXPECT_PERHAPS));
  REQUIRE(seen->peer == expected->peer);
  REQUIRE((seen->flags & MQR_ANY_TAG) != 0 || seen->tag == expected->tag);
  REQUIRE(seen->length == expected->bytes);
  REQUIRE((seen->flags & MQR_INACTIVE) == 0
              ? seen->status == MQR_PENDING || expected->queue == MQR_UNEXPECTED
              : seen->status == MQR_COMPLETE);
  REQUIRE(seen->site.word != 0);
}

/* Returns how many sends are not in the queue because MPI had them at once. */
static uint32_t check_queue(const struct mqr_communicator* seen, int index, enum mqr_queue queue) {
  const struct mqr_operation* operation = at(&seen->queues[queue].first);
  uint32_t count = 0;
  uint32_t returned = 0;
  for (int i = 0; i < operation_count; ++i) {
    const struct operation* const expected = &operations[i];
    if (expected->communicator != index || expected->queue != queue)
      continue;
    if ((expected->flags & EXPECT_PERHAPS) != 0 &&
        (operation == NULL || operation->tag != expected->tag)) {
      ++returned;
      continue;
    }
    check_operation(operation, expected);
    operation = at(&operation->node.next);
    ++count;
  }
  REQUIRE(operation == NULL);
  REQUIRE(seen->queues[queue].count == count);
  return returned;
}

static const struct mqr_channel* channel(const struct mqr_communicator* seen, int peer, int tag) {
  const struct mqr_channels* const channels = at(&seen->channels);
  const struct mqr_channel* const entries = (const struct mqr_channel*)(channels + 1);
  for (uint32_t i = 0; channels != NULL && i < channels->capacity; ++i) {
    if (entries[i].peer == peer && entries[i].tag == tag)
      return &entries[i];
  }
  return NULL;
}

/* No message is counted but those that are expected. */
static void check_no_more(const struct mqr_communicator* seen,
                          const struct communicator* expected) {
  const struct mqr_channels* const channels = at(&seen->channels);
  const struct mqr_channel* const entries = (const struct mqr_channel*)(channels + 1);
  uint32_t more = 0;
  for (uint32_t i = 0; channels != NULL && i < channels->capacity; ++i)
    more += entries[i].peer != MQR_NO_PEER ? entries[i].sent + entries[i].received : 0;
  for (int i = 0; i < expected->count_count; ++i)
    more -= expected->counts[i].sent + expected->counts[i].received;
  REQUIRE(more == 0);
}

static void check_communicator(int index) {
  const struct communicator* const expected = &communicators[index];
  const struct mqr_communicator* const seen = recorded_communicator(expected->name);
  REQUIRE(seen != NULL);
  REQUIRE(seen->size == expected->size && seen->local_rank == expected->rank);
  const uint32_t early = check_queue(seen, index, MQR_SEND);
  check_queue(seen, index, MQR_RECEIVE);
  check_queue(seen, index, MQR_UNEXPECTED);
  for (int i = 0; i < expected->count_count; ++i) {
    const struct count* const count = &expected->counts[i];
    const struct mqr_channel* const counted = channel(seen, count->peer, count->tag);
    REQUIRE((counted != NULL ? counted->sent : 0) == count->sent);
    REQUIRE((counted != NULL ? counted->received : 0) == count->received);
  }
  check_no_more(seen, expected);
  REQUIRE(seen->returned == expected->returned + early);
  REQUIRE(seen->collectives == expected->collectives);
  REQUIRE(seen->under_way.count == expected->under_way);
}

void check_at(int line) {
  const struct mqr_root* const root = recorder();
  if (root == NULL)
    return;
  const int told = getenv("RECORDER_TEST_STEPS") != NULL;
  if (told)
    fprintf(stderr, "step %d\n", line);
  REQUIRE(root->state == MQR_INITIALIZED && root->generation % 2 == 0);
  const struct mqr_thread* const thread = recorded_thread();
  REQUIRE(thread == NULL || thread->function == MQR_NO_FUNCTION);
  for (int i = 0; i < communicator_count; ++i) {
    if (communicators[i].name[0] != '\0')
      check_communicator(i);
  }
}

void passed(const char* what) {
  printf("%s: passed, %s\n", what, recorder() != NULL ? "recorded" : "not recorded");
  fflush(stdout);
}
