// One update of the recorder after the other, with a stop between each two: a debugger steps
// through them, instruction by instruction.

#include "tests/dll/recorder_steps.h"

#include "dll/recorder/handles.h"
#include "dll/recorder/recorder.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>

static struct mqr_recorded_communicator* world;
static struct mqr_recorded_communicator* other;
static struct mqr_recorded_operation* sends[4];
static struct mqr_recorded_operation* receive;
static struct mqr_recorded_operation* last_of_freed;
static struct mqr_recorded_operation* persistent[2];
static struct mqr_recorded_collective* collectives[2];

static void step_init(void) {
  mqr_init(NULL);
}

static void step_set_library(void) {
  mqr_set_library("an MPI library");
}

static void step_add_world(void) {
  static const int32_t group[] = {2, 0, 1};
  const struct mqr_communicator_spec spec = {"MPI_COMM_WORLD", 1, 1, 3, group, 0, NULL, 0};
  mqr_communicator_add(&spec, &world);
}

static void step_add_other(void) {
  const struct mqr_communicator_spec spec = {"other", 2, 0, 1, NULL, 0, NULL, 0};
  mqr_communicator_add(&spec, &other);
}

static struct mqr_recorded_operation* begin_on(struct mqr_recorded_communicator* communicator,
                                               enum mqr_queue queue, int32_t tag, uint32_t flags) {
  static const struct mqr_word datatype = {"MPI_INT"};
  const struct mqr_operation_spec spec = {.queue = queue,
                                          .function = MQR_Irecv,
                                          .flags = flags,
                                          .peer = communicator == world,
                                          .tag = tag,
                                          .length = UINT64_C(0x100000001) * 5,
                                          .datatype = &datatype,
                                          .site = &datatype};
  struct mqr_recorded_operation* begun = NULL;
  mqr_operation_begin(communicator, &spec, &begun);
  return begun;
}

static struct mqr_recorded_operation* begin(enum mqr_queue queue, int32_t tag) {
  return begin_on(world, queue, tag, 0);
}

static void enter(enum mqr_function function) {
  const struct mqr_call_spec call = {function, &world, world, 1, 7, 2};
  mqr_enter(&call);
}

static void step_join(void) {
  enter(MQR_Bcast);
}
static void step_leave(void) {
  mqr_leave();
}
static void step_begin_first(void) {
  sends[0] = begin(MQR_SEND, 10);
}
static void step_begin_second(void) {
  sends[1] = begin(MQR_SEND, 11);
}
static void step_begin_third(void) {
  sends[2] = begin(MQR_SEND, 12);
}
static void step_begin_fourth(void) {
  sends[3] = begin(MQR_SEND, 13);
}
static void step_begin_receive(void) {
  receive = begin(MQR_RECEIVE, 20);
}
static void step_begin_unexpected(void) {
  begin(MQR_UNEXPECTED, 30);
}
static void step_match(void) {
  mqr_operation_match(receive, 2, 20, UINT64_C(0x200000002));
}
static void step_complete_receive(void) {
  mqr_operation_complete(receive);
}
static void step_complete_send(void) {
  mqr_operation_complete(sends[1]);
}
static void step_add_request(void) {
  mqr_request_add(&sends[2], sends[2]);
}
static void step_enter_wait(void) {
  enter(MQR_Waitall);
}
static void step_wait_for(void) {
  struct mqr_recorded_operation* const waited[] = {sends[2], NULL, sends[3]};
  mqr_wait_for(waited, 3, NULL, 0, 3, 1);
}
static void step_leave_wait(void) {
  mqr_leave();
}
static void step_end_first_send(void) {
  mqr_send_end(sends[0], 0);
}
static void step_end_receive(void) {
  mqr_receive_end(receive, 2, 20, 0);
}
static void step_remove_middle(void) {
  mqr_operation_remove(sends[1]);
}
static void step_cancel_last(void) {
  mqr_send_end(sends[3], 1);
}
static void step_end_only_send(void) {
  mqr_send_end(mqr_request_take(&sends[2]), 0);
}
static void step_count_received(void) {
  mqr_count_received(world, 0, 40);
}

// Twelve of sixteen entries are taken.
static void before_grow_channels(void) {
  for (int32_t tag = 50; tag < 56; ++tag)
    mqr_count_received(world, 0, tag);
}
static void step_grow_channels(void) {
  begin(MQR_SEND, 57);
}
// The ring is full.
static void before_overwrite_in_ring(void) {
  for (int i = 0; i < MQR_RETURNED; ++i)
    mqr_send_end(begin(MQR_SEND, 10 + i % 2), 0);
  sends[0] = begin(MQR_SEND, 10);
}
static void step_overwrite_in_ring(void) {
  mqr_send_end(sends[0], 0);
}
static void step_flush(void) {
  mqr_flush();
}
static void step_make_persistent(void) {
  persistent[0] = begin_on(world, MQR_SEND, 10, MQR_INACTIVE);
}
static void step_make_persistent_receive(void) {
  persistent[1] = begin_on(world, MQR_RECEIVE, 11, MQR_INACTIVE);
}
// Both leave their places.
static void before_start(void) {
  sends[0] = begin(MQR_SEND, 11);
  receive = begin(MQR_RECEIVE, 11);
}
static void step_start(void) {
  mqr_operation_start(persistent[0]);
}
static void step_start_receive(void) {
  mqr_operation_start(persistent[1]);
}
static void step_end_persistent(void) {
  mqr_send_end(persistent[0], 0);
}
static void step_end_persistent_receive(void) {
  mqr_receive_end(persistent[1], 1, 11, 0);
}
static void step_remove_persistent(void) {
  mqr_operation_remove(persistent[1]);
}
static const char handles[4];

static void step_open_handles(void) {
  const struct mqr_handles constants = {.comm_null.word = 5};
  mqr_handles_open(&constants);
}
static void step_set_handle(void) {
  mqr_communicator_set_handle(world, &handles[0], 3, MQR_KNOWN_HANDLE | MQR_KNOWN_FORTRAN);
}
static void step_add_errhandler(void) {
  const struct mqr_errhandler_spec spec = {.handle = &handles[1], .function = handles};
  mqr_errhandler_add(&spec);
}
static void step_set_errhandler(void) {
  mqr_communicator_set_errhandler(world, &handles[1]);
}
static struct mqr_topology* topology;
static void before_set_topology(void) {
  topology = calloc(1, sizeof *topology + 2 * sizeof(int32_t));
  *topology = (struct mqr_topology){.magic = MQR_MAGIC_TOPOLOGY, .kind = MQR_CARTESIAN, .first = 1};
}
static void step_set_topology(void) {
  mqr_communicator_set_topology(world, topology);
}
static void set_attribute(int32_t keyval, int64_t value) {
  const struct mqr_attribute attribute = {keyval, MQR_OWN_KEYVAL, value};
  mqr_communicator_set_attribute(world, &attribute);
}
static void step_set_first_attribute(void) {
  set_attribute(1, 10);
}
static void step_set_second_attribute(void) {
  set_attribute(2, 20);
}
static void step_replace_attribute(void) {
  set_attribute(1, 11);
}
static void step_delete_attribute(void) {
  mqr_communicator_delete_attribute(world, 2);
}
static void step_know_attributes(void) {
  mqr_communicator_know_attributes(world);
}
static void step_free_errhandler(void) {
  mqr_errhandler_free(&handles[1]);
}
static void step_set_other_errhandler(void) {
  mqr_communicator_set_errhandler(world, &handles[2]);
}
static void begin_unqueued(const void* request) {
  const struct mqr_unqueued_spec spec = {
      .function = MQR_Send_init, .flags = MQR_INACTIVE, .request = request, .communicator = world};
  mqr_unqueued_begin(&spec);
}
static struct mqr_recorded_unqueued* unqueued;
static void step_begin_unqueued(void) {
  begin_unqueued(&handles[0]);
}
static void step_begin_second_unqueued(void) {
  begin_unqueued(&handles[1]);
}
static void step_mark_request(void) {
  mqr_request_mark(&handles[0], MQR_CANCELLED);
}
static void step_set_fortran(void) {
  mqr_request_set_fortran(&handles[0], 7);
}
static void before_activate_unqueued(void) {
  unqueued = mqr_unqueued_take(&handles[0]);
}
static void step_activate_unqueued(void) {
  mqr_unqueued_activate(unqueued, 1);
}
static void step_end_unqueued(void) {
  mqr_unqueued_end(unqueued);
}
static void step_enter_collective(void) {
  mqr_communicator_enter_collective(world);
}
static struct mqr_recorded_collective* begin_collective(uint32_t sequence) {
  const struct mqr_collective_spec spec = {MQR_Ibcast, sequence, 1, &collectives[sequence], &world};
  struct mqr_recorded_collective* begun = NULL;
  mqr_collective_begin(world, &spec, &begun);
  return begun;
}
static void step_begin_collective(void) {
  collectives[0] = begin_collective(0);
}
static void step_begin_second_collective(void) {
  collectives[1] = begin_collective(1);
}
static void step_end_collective(void) {
  mqr_collective_end(mqr_collective_take(&collectives[0]));
}
static void step_rename_other(void) {
  mqr_communicator_rename(other, "another name");
}
static void before_free_other(void) {
  last_of_freed = begin_on(other, MQR_RECEIVE, 3, 0);
}
static void step_free_other(void) {
  mqr_communicator_free(other);
}
static void step_end_last_of_freed(void) {
  mqr_operation_remove(last_of_freed);
}
static void step_switch_off(void) {
  mqr_set_recording(0);
}
static void step_miss_one(void) {
  begin(MQR_RECEIVE, 60);
}
static void step_finalize(void) {
  mqr_finalize();
}

typedef void action(void);
#define STEP(name, kind) step_##name,
static action* const steps[] = {RECORDER_STEPS(STEP)};

/// What is to be done before the debugger looks on; NULL: nothing.
static action* before(action* step) {
  static action* const pairs[][2] = {{step_grow_channels, before_grow_channels},
                                     {step_overwrite_in_ring, before_overwrite_in_ring},
                                     {step_start, before_start},
                                     {step_set_topology, before_set_topology},
                                     {step_activate_unqueued, before_activate_unqueued},
                                     {step_free_other, before_free_other}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
    if (pairs[i][0] == step)
      return pairs[i][1];
  return NULL;
}

int main(void) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
    return 8;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    if (before(steps[i]) != NULL)
      before(steps[i])();
    raise(SIGSTOP); // here the debugger begins
    steps[i]();
    raise(SIGSTOP); // and here it ends
  }
  return 0;
}
