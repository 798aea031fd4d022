// recorder_traffic [SECONDS]
//
// Threads that record messages, waits and collectives without a pause, for a debugger to stop
// anywhere, while communicators and threads come and go. With SECONDS it comes to its end, and
// fails unless all that has begun has ended: for sanitizers.

#include "tests/dll/recorder_traffic.h"

#include "dll/recorder/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { lifetime_seconds = 900 };

extern struct mqr_root mqbridge_recorder;

static struct mqr_recorded_communicator* world;
static atomic_bool at_end;

/// As long as a short wait in MPI.
static void stay_in_call(void) {
  for (volatile int i = 0; i < 200; ++i) {
  }
}

static void enter(enum mqr_function function, int has_sequence, uint32_t sequence) {
  const struct mqr_call_spec call = {
      .function = function,
      .site = (const void*)traffic_call_site(function),
      .communicator = world,
      .has_sequence = has_sequence,
      .sequence = sequence,
      .root = has_sequence ? (int32_t)(sequence % traffic_roots) : MQR_NO_ROOT,
  };
  mqr_enter(&call);
}

static struct mqr_recorded_operation* begin(struct mqr_recorded_communicator* communicator,
                                            enum mqr_queue queue, int32_t peer, int32_t tag,
                                            uint32_t flags) {
  static const struct mqr_word datatype = {"MPI_BYTE"};
  const struct mqr_operation_spec spec = {
      .queue = queue,
      .function = queue == MQR_SEND ? MQR_Isend : MQR_Irecv,
      .flags = flags,
      .peer = peer,
      .tag = tag,
      .length = traffic_length(peer, tag),
      .buffer = (const void*)traffic_buffer(peer, tag),
      .count = traffic_length(peer, tag),
      .datatype = &datatype,
      .site = (const void*)traffic_site(peer, tag),
  };
  struct mqr_recorded_operation* begun = NULL;
  if (mqr_operation_begin(communicator, &spec, &begun) != MQR_OK)
    abort();
  return begun;
}

static void send_blocking(int32_t peer, int32_t tag) {
  enter(MQR_Send, 0, 0);
  struct mqr_recorded_operation* const send = begin(world, MQR_SEND, peer, tag, MQR_BLOCKING);
  mqr_wait_for(&send, 1, NULL, 0, 1, 0);
  stay_in_call();
  mqr_leave();
  mqr_send_end(send, 0);
}

static void receive_blocking(int32_t peer, int32_t tag) {
  enter(MQR_Recv, 0, 0);
  struct mqr_recorded_operation* const receive = begin(world, MQR_RECEIVE, peer, tag, MQR_BLOCKING);
  mqr_wait_for(&receive, 1, NULL, 0, 1, 0);
  stay_in_call();
  mqr_leave();
  mqr_receive_end(receive, peer, tag, 0);
}

/// Isend and Irecv of the same messages, then Waitall.
static void exchange(int32_t first_peer, int32_t tag) {
  char requests[2 * traffic_window];
  struct mqr_recorded_operation* operations[2 * traffic_window];
  for (int i = 0; i < 2 * traffic_window; ++i) {
    operations[i] = begin(world, i < traffic_window ? MQR_SEND : MQR_RECEIVE,
                          first_peer + i % traffic_window, tag, 0);
    mqr_request_add(&requests[i], operations[i]);
  }
  enter(MQR_Waitall, 0, 0);
  for (int i = 0; i < 2 * traffic_window; ++i)
    if (mqr_request_take(&requests[i]) != operations[i])
      abort();
  mqr_wait_for(operations, 2 * traffic_window, NULL, 0, 2 * traffic_window, 0);
  stay_in_call();
  mqr_leave();
  for (int i = 0; i < traffic_window; ++i) {
    mqr_send_end(operations[i], 0);
    mqr_operation_match(operations[traffic_window + i], first_peer + i, tag,
                        traffic_length(first_peer + i, tag));
    mqr_receive_end(operations[traffic_window + i], first_peer + i, tag, 0);
  }
}

/// Waitany of two, of which one stays and is tested later.
static void wait_for_any(int32_t peer, int32_t tag) {
  char requests[2];
  struct mqr_recorded_operation* const operations[] = {begin(world, MQR_SEND, peer, tag, 0),
                                                       begin(world, MQR_RECEIVE, peer, tag, 0)};
  enter(MQR_Waitany, 0, 0);
  mqr_wait_for(operations, 2, NULL, 0, 1, 3);
  stay_in_call();
  mqr_leave();
  mqr_request_add(&requests[1], operations[1]);
  mqr_send_end(operations[0], 0);
  mqr_receive_end(mqr_request_take(&requests[1]), peer, tag, 0);
}

static void start_persistent(struct mqr_recorded_operation* const* operations, int32_t peer,
                             int32_t tag) {
  mqr_operation_start(operations[0]);
  mqr_operation_start(operations[1]);
  enter(MQR_Waitsome, 0, 0);
  mqr_wait_for(operations, 2, NULL, 0, 1, 0);
  stay_in_call();
  mqr_leave();
  mqr_send_end(operations[0], 0);
  mqr_receive_end(operations[1], peer, tag, 0);
}

static void take_message(int32_t peer, int32_t tag) {
  send_blocking(peer, tag);
  mqr_count_received(world, peer, tag);
  mqr_operation_remove(begin(world, MQR_UNEXPECTED, peer, tag, MQR_TAKEN));
}

static void collective(void) {
  const uint32_t sequence = mqr_communicator_enter_collective(world);
  char request;
  const struct mqr_collective_spec spec = {
      .function = MQR_Ibcast,
      .sequence = sequence,
      .root = (int32_t)(sequence % traffic_roots),
      .request = &request,
      .site = (const void*)traffic_call_site(MQR_Ibcast),
  };
  struct mqr_recorded_collective* begun = NULL;
  if (mqr_collective_begin(world, &spec, &begun) != MQR_OK ||
      mqr_collective_take(&request) != begun)
    abort();
  enter(MQR_Wait, 0, 0);
  mqr_wait_for(NULL, 0, &begun, 1, 1, 0);
  stay_in_call();
  mqr_leave();
  mqr_collective_end(begun);
  enter(MQR_Bcast, 1, mqr_communicator_enter_collective(world));
  mqr_leave();
}

static void* send_and_receive(void* argument) {
  const int32_t first = *(const int32_t*)argument * traffic_peers;
  struct mqr_recorded_operation* const persistent[] = {
      begin(world, MQR_SEND, first, 1, MQR_INACTIVE),
      begin(world, MQR_RECEIVE, first, 1, MQR_INACTIVE)};
  for (int32_t round = 0; !atomic_load(&at_end); ++round) {
    const int32_t peer = first + round % traffic_peers;
    const int32_t tag = round % traffic_tags;
    send_blocking(peer, tag);
    receive_blocking(peer, tag);
    exchange(first + round % (traffic_peers - traffic_window), tag);
    wait_for_any(peer, tag);
    start_persistent(persistent, first, 1);
    take_message(peer, tag);
    collective();
    if (round % 64 == 0)
      mqr_flush();
  }
  mqr_operation_remove(persistent[0]);
  mqr_operation_remove(persistent[1]);
  return NULL;
}

/// Each has channels that grow, and is freed while something is pending.
static void* make_communicators(void* argument) {
  const int32_t group[traffic_peers] = {0};
  for (uint64_t id = 2; !atomic_load(&at_end); ++id) {
    const struct mqr_communicator_spec spec = {
        .name = "comes", .id = id, .size = traffic_peers, .group = group};
    struct mqr_recorded_communicator* added = NULL;
    if (mqr_communicator_add(&spec, &added) != MQR_OK)
      abort();
    struct mqr_recorded_operation* const last = begin(added, MQR_RECEIVE, 1, 1, 0);
    for (int32_t tag = 0; tag < (int32_t)(id % 32); ++tag)
      mqr_send_end(begin(added, MQR_SEND, tag % traffic_peers, tag, 0), 0);
    mqr_communicator_rename(added, "goes");
    mqr_communicator_free(added);
    mqr_receive_end(last, 1, 1, 0);
  }
  return argument;
}

static void* call_once(void* argument) {
  enter(MQR_Iprobe, 0, 0);
  mqr_leave();
  return argument;
}

static void* make_threads(void* argument) {
  pthread_t thread;
  while (!atomic_load(&at_end))
    if (pthread_create(&thread, NULL, call_once, NULL) == 0)
      pthread_join(thread, NULL);
  return argument;
}

static int all_has_ended(void) {
  const struct mqr_communicator* const only =
      (const struct mqr_communicator*)mqbridge_recorder.communicators.first.word;
  uint32_t left = mqbridge_recorder.communicators.count - 1 + only->under_way.count;
  for (int i = 0; i < MQR_QUEUES; ++i)
    left += only->queues[i].count;
  fprintf(stderr, "%u left, generation %u, flags %u\n", (unsigned)left,
          (unsigned)mqbridge_recorder.generation, (unsigned)mqbridge_recorder.flags);
  return left == 0 && mqbridge_recorder.generation % 2 == 0 && mqbridge_recorder.flags == 0;
}

int main(int argc, char** argv) {
  alarm(lifetime_seconds); // nothing outlives a test that died
  int32_t group[traffic_threads * traffic_peers];
  const int32_t size = (int32_t)(sizeof group / sizeof *group);
  for (int32_t i = 0; i < size; ++i)
    group[i] = size - 1 - i;
  const struct mqr_communicator_spec spec = {
      .name = "world", .id = 1, .size = size, .group = group};
  if (mqr_init(NULL) != MQR_OK || mqr_communicator_add(&spec, &world) != MQR_OK)
    return 8;
  mqr_set_threads(MQR_LEVEL_MULTIPLE);
  static int32_t numbers[traffic_threads];
  pthread_t threads[traffic_threads + 2];
  for (int32_t i = 0; i < traffic_threads; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, send_and_receive, &numbers[i]) != 0)
      return 8;
  }
  if (pthread_create(&threads[traffic_threads], NULL, make_communicators, NULL) != 0 ||
      pthread_create(&threads[traffic_threads + 1], NULL, make_threads, NULL) != 0)
    return 8;
  puts("ready");
  fflush(stdout);
  if (argc < 2)
    pause();
  sleep((unsigned)atoi(argv[1]));
  atomic_store(&at_end, 1);
  for (int i = 0; i < traffic_threads + 2; ++i)
    pthread_join(threads[i], NULL);
  const int good = all_has_ended();
  mqr_finalize();
  return good ? 0 : 1;
}
