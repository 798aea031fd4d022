// One update of the recorder after the other, with a stop between each two: a debugger steps
// through them, instruction by instruction.

#include "dll/recorder/recorder.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>

static struct mqr_recorded_communicator* world;
static struct mqr_recorded_communicator* other;
static struct mqr_recorded_operation* sends[4];
static struct mqr_recorded_operation* receive;

static void init(void) {
  mqr_init(NULL);
}

static void add_world(void) {
  static const int32_t group[] = {2, 0, 1};
  const struct mqr_communicator_spec spec = {"MPI_COMM_WORLD", 1, 1, 3, group, 0, NULL, 0};
  mqr_communicator_add(&spec, &world);
}

static void add_other(void) {
  const struct mqr_communicator_spec spec = {"other", 2, 0, 1, NULL, 0, NULL, 0};
  mqr_communicator_add(&spec, &other);
}

static struct mqr_recorded_operation* begin(enum mqr_queue queue, int32_t tag) {
  static const struct mqr_word datatype = {"MPI_INT"};
  const struct mqr_operation_spec spec = {.queue = queue,
                                          .peer = 1,
                                          .tag = tag,
                                          .length = UINT64_C(0x100000001) * 5,
                                          .function = MQR_Irecv,
                                          .datatype = &datatype};
  struct mqr_recorded_operation* begun = NULL;
  mqr_operation_begin(world, &spec, &begun);
  return begun;
}

static void begin_first(void) {
  sends[0] = begin(MQR_SEND, 10);
}
static void begin_second(void) {
  sends[1] = begin(MQR_SEND, 11);
}
static void begin_third(void) {
  sends[2] = begin(MQR_SEND, 12);
}
static void begin_fourth(void) {
  sends[3] = begin(MQR_SEND, 13);
}
static void begin_receive(void) {
  receive = begin(MQR_RECEIVE, 20);
}
static void begin_unexpected(void) {
  begin(MQR_UNEXPECTED, 30);
}
static void match(void) {
  mqr_operation_match(receive, 2, 20, UINT64_C(0x200000002));
}
static void complete_receive(void) {
  mqr_operation_complete(receive);
}
static void complete_send(void) {
  mqr_operation_complete(sends[1]);
}
static void remove_middle(void) {
  mqr_operation_remove(sends[1]);
}
static void remove_first(void) {
  mqr_operation_remove(sends[0]);
}
static void remove_last(void) {
  mqr_operation_remove(sends[3]);
}
static void remove_only(void) {
  mqr_operation_remove(sends[2]);
}
static void rename_other(void) {
  mqr_communicator_rename(other, "another name");
}
static void remove_other(void) {
  mqr_communicator_free(other);
}

static void (*const updates[])(void) = {
    init,          add_world,     add_other,        begin_first, begin_second,     begin_third,
    begin_fourth,  begin_receive, begin_unexpected, match,       complete_receive, complete_send,
    remove_middle, remove_first,  remove_last,      remove_only, rename_other,     remove_other,
    mqr_finalize,
};

int main(void) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
    return 8;
  for (size_t i = 0; i < sizeof updates / sizeof *updates; ++i) {
    raise(SIGSTOP);
    updates[i]();
  }
  raise(SIGSTOP);
  return 0;
}
