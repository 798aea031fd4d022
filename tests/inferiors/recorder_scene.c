#include "tests/inferiors/recorder_scene.h"

#include "dll/recorder/recorder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

enum { any = MQR_ANY_SOURCE };

struct scene_operation {
  enum mqr_queue queue;
  int32_t peer;
  int32_t tag;
  uint64_t length;
  bool any_tag;
  bool system_buffer;
  bool leaves; ///< removed again before anybody looks
  enum mqr_status status;
  int32_t actual_peer; ///< these three: of a receive that was matched
  int32_t actual_tag;
  uint64_t actual_length;
};

struct scene_communicator {
  const char* name;
  const char* shown; ///< as an interface with 63 bytes for a name shows it
  uint64_t id;
  int32_t first; ///< ranks in MPI_COMM_WORLD: first, first + step, ... (modulo its size)
  int32_t step;
  int32_t size;
  int32_t remote_first;
  int32_t remote_size; ///< 0: an intracommunicator
  bool unknown_group;
  bool leaves;
  const struct scene_operation* operations;
  size_t count;
};

#define SENDS_TO(...)                                                                              \
  { .queue = MQR_SEND, __VA_ARGS__ }
#define RECEIVES(...)                                                                              \
  { .queue = MQR_RECEIVE, __VA_ARGS__ }
#define ARRIVED(...)                                                                               \
  { .queue = MQR_UNEXPECTED, __VA_ARGS__ }

static const struct scene_operation in_world[] = {
    SENDS_TO(.peer = 7, .tag = 1, .length = 1, .leaves = true),
    SENDS_TO(.peer = 3, .tag = 17, .length = 64),
    SENDS_TO(.peer = 1, .tag = 0, .length = (UINT64_C(5) << 30) + 3),
    SENDS_TO(.peer = 2, .tag = 5, .length = 4096, .status = MQR_COMPLETE),
    SENDS_TO(.peer = 7, .tag = 2, .length = 2, .leaves = true),
    SENDS_TO(.peer = 4, .tag = 6, .length = 24, .system_buffer = true),
    SENDS_TO(.peer = MQR_PROC_NULL, .tag = 7, .length = 8),
    SENDS_TO(.peer = 5, .tag = -17, .length = 0),
    RECEIVES(.peer = any, .any_tag = true, .length = 128),
    RECEIVES(.peer = 2, .tag = 2147483647, .length = 1048576),
    RECEIVES(.peer = any, .tag = 40, .length = 256, .status = MQR_MATCHED, .actual_peer = 6,
             .actual_tag = 40, .actual_length = 255),
    RECEIVES(.peer = 1, .any_tag = true, .length = 512, .status = MQR_COMPLETE, .actual_peer = 1,
             .actual_tag = 99, .actual_length = 0),
    RECEIVES(.peer = 0, .tag = -33, .length = 16),
    RECEIVES(.peer = 3, .tag = 3, .length = 3, .leaves = true),
    ARRIVED(.peer = 6, .tag = 11, .length = (UINT64_C(7) << 32) + 1, .system_buffer = true),
    ARRIVED(.peer = 6, .tag = 12, .length = 8, .leaves = true),
    ARRIVED(.peer = 0, .tag = 12, .length = 0),
    ARRIVED(.peer = 6, .tag = 11, .length = 32, .system_buffer = true),
};

static const struct scene_operation in_reversed[] = {
    SENDS_TO(.peer = 0, .tag = 71, .length = 4),
    RECEIVES(.peer = 7, .tag = 72, .length = 4, .status = MQR_MATCHED, .actual_peer = 7,
             .actual_tag = 72, .actual_length = 4),
};

static const struct scene_operation in_inter[] = {
    SENDS_TO(.peer = 2, .tag = 81, .length = 10),
    RECEIVES(.peer = any, .tag = 82, .length = 20, .status = MQR_COMPLETE, .actual_peer = 1,
             .actual_tag = 82, .actual_length = 19),
    ARRIVED(.peer = 0, .tag = 83, .length = 30, .system_buffer = true),
};

static const struct scene_operation in_unknown[] = {
    RECEIVES(.peer = 1, .tag = 91, .length = 1),
};

#define WITH(table) .operations = (table), .count = sizeof(table) / sizeof *(table)

// 62 bytes, and a letter of two on the border.
#define LONG_NAME "a name that is longer than the interface has room for, by far "

static const struct scene_communicator scene[] = {
    {.name = "MPI_COMM_WORLD", .id = 1, .step = 1, .size = scene_world_size, WITH(in_world)},
    {.name = "MPI_COMM_SELF", .id = 2, .first = -1, .step = 1, .size = 1},
    {.name = "goes away", .id = 3, .first = -1, .step = 1, .size = 2, .leaves = true},
    {.name = "reversed", .id = 4, .first = 7, .step = -1, .size = 8, WITH(in_reversed)},
    {.name = "every third, \"odd\" \\ gr\xc3\xb6\xc3\x9f\x65",
     .id = 5,
     .first = -1,
     .step = 3,
     .size = 4},
    {.name = LONG_NAME "\xc3\xb6 far",
     .shown = LONG_NAME,
     .id = (UINT64_C(1) << 40) + 6,
     .step = 1,
     .size = 8},
    {.name = "inter",
     .id = 7,
     .first = -1,
     .step = 2,
     .size = 2,
     .remote_first = 4,
     .remote_size = 3,
     WITH(in_inter)},
    {.name = "",
     .id = 8,
     .first = -1,
     .step = 1,
     .size = 3,
     .unknown_group = true,
     WITH(in_unknown)},
};

static char buffers[64];

static void check(enum mqr_result result, const char* what) {
  if (result == MQR_OK)
    return;
  fprintf(stderr, "the recorder refuses %s: %d\n", what, (int)result);
  exit(8);
}

static int32_t wrapped(int32_t rank) {
  return (rank % scene_world_size + scene_world_size) % scene_world_size;
}

/// `first` -1 stands for the process itself.
static int32_t member(const struct scene_communicator* of, int32_t local_rank, int32_t self) {
  return wrapped((of->first < 0 ? self : of->first) + local_rank * of->step);
}

static int32_t remote_member(const struct scene_communicator* of, int32_t local_rank) {
  return wrapped(of->remote_first + local_rank);
}

static int32_t own_rank(const struct scene_communicator* of, int32_t self) {
  int32_t rank = 0;
  while (member(of, rank, self) != self)
    ++rank;
  return rank;
}

static void print_text(FILE* out, const char* text) {
  fputc('"', out);
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\')
      fputc('\\', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void print_name(FILE* out, const struct scene_communicator* of) {
  fprintf(out, ",\"communicator\":");
  print_text(out, of->shown != NULL ? of->shown : of->name);
}

// One whose group the recorder was not told has none in a dump.
static void print_communicator(FILE* out, const struct scene_communicator* of, int32_t self) {
  fprintf(out, "{\"line\":\"communicator\"");
  print_name(out, of);
  fprintf(out, ",\"local_rank\":%" PRId32 ",\"size\":%" PRId32 ",\"group\":[", own_rank(of, self),
          of->size);
  for (int32_t i = 0; i < of->size && !of->unknown_group; ++i)
    fprintf(out, "%s%" PRId32, i != 0 ? "," : "", member(of, i, self));
  fprintf(out, "]}\n");
}

static void print_ranks(FILE* out, const struct scene_communicator* of, int32_t peer,
                        int32_t self) {
  fprintf(out, "\"local_rank\":%" PRId32 ",\"global_rank\":", peer);
  if (peer < 0 || of->unknown_group)
    fprintf(out, "null");
  else
    fprintf(out, "%" PRId32,
            of->remote_size > 0 ? remote_member(of, peer) : member(of, peer, self));
}

static void print_actual(FILE* out, const struct scene_communicator* of,
                         const struct scene_operation* operation, int32_t self) {
  const bool sends = operation->queue == MQR_SEND;
  if (operation->queue == MQR_UNEXPECTED || (!sends && operation->status == MQR_PENDING))
    return;
  fprintf(out, ",\"actual\":{");
  print_ranks(out, of, sends ? operation->peer : operation->actual_peer, self);
  fprintf(out, ",\"tag\":%" PRId32 ",\"length\":%" PRIu64 "}",
          sends ? operation->tag : operation->actual_tag,
          sends ? operation->length : operation->actual_length);
}

static const char* call_of(const struct scene_operation* operation) {
  static const char* const calls[] = {"MPI_Isend", "MPI_Irecv", NULL};
  return calls[operation->queue];
}

static enum mqr_function function_of(const struct scene_operation* operation) {
  static const enum mqr_function functions[] = {MQR_Isend, MQR_Irecv, MQR_NO_FUNCTION};
  return functions[operation->queue];
}

/// NULL: an unexpected message is bytes, of no datatype yet.
static const struct mqr_word* datatype_of(const struct scene_operation* operation) {
  static const struct mqr_word bytes = {"MPI_BYTE"};
  return operation->queue == MQR_UNEXPECTED ? NULL : &bytes;
}

static void print_details(FILE* out, const struct scene_operation* operation) {
  if (call_of(operation) != NULL)
    fprintf(out, ",\"call\":\"%s\"", call_of(operation));
  if (datatype_of(operation) != NULL)
    fprintf(out, ",\"datatype\":\"%s\",\"count\":%" PRIu64, datatype_of(operation)->text,
            operation->length);
}

static void print_operation(FILE* out, const struct scene_communicator* of,
                            const struct scene_operation* operation, const void* buffer,
                            int32_t self) {
  static const char* const queues[] = {"send", "receive", "unexpected"};
  static const char* const statuses[] = {"pending", "matched", "complete"};
  fprintf(out, "{\"line\":\"operation\",\"queue\":\"%s\"", queues[operation->queue]);
  print_name(out, of);
  fprintf(out, ",\"status\":\"%s\",\"peer\":{", statuses[operation->status]);
  if (operation->peer == any) {
    fprintf(out, "\"any\":true,\"local_rank\":null,\"global_rank\":null");
  } else {
    fprintf(out, "\"any\":false,");
    print_ranks(out, of, operation->peer, self);
  }
  if (operation->any_tag)
    fprintf(out, "},\"tag\":{\"any\":true,\"value\":null}");
  else
    fprintf(out, "},\"tag\":{\"any\":false,\"value\":%" PRId32 "}", operation->tag);
  fprintf(out, ",\"length\":%" PRIu64, operation->length);
  if (buffer == NULL)
    fprintf(out, ",\"buffer\":null");
  else
    fprintf(out, ",\"buffer\":\"0x%" PRIxPTR "\"", (uintptr_t)buffer);
  fprintf(out, ",\"system_buffer\":%s", operation->system_buffer ? "true" : "false");
  print_actual(out, of, operation, self);
  print_details(out, operation);
  fprintf(out, "}\n");
}

static struct mqr_recorded_communicator* add_communicator(const struct scene_communicator* of,
                                                          int32_t self) {
  int32_t group[scene_world_size];
  int32_t remote[scene_world_size];
  for (int32_t i = 0; i < of->size; ++i)
    group[i] = member(of, i, self);
  for (int32_t i = 0; i < of->remote_size; ++i)
    remote[i] = remote_member(of, i);
  const struct mqr_communicator_spec spec = {
      .name = "before its name",
      .id = of->id,
      .local_rank = own_rank(of, self),
      .size = of->size,
      .group = of->unknown_group ? NULL : group,
      .remote_size = of->remote_size,
      .remote_group = of->remote_size > 0 ? remote : NULL,
  };
  struct mqr_recorded_communicator* added = NULL;
  check(mqr_communicator_add(&spec, &added), of->name);
  check(mqr_communicator_rename(added, of->name), "a name");
  return added;
}

static struct mqr_recorded_operation* begin(struct mqr_recorded_communicator* communicator,
                                            const struct scene_operation* operation,
                                            const void* buffer) {
  const struct mqr_operation_spec spec = {
      .queue = operation->queue,
      .peer = operation->peer,
      .tag = operation->tag,
      .flags = (operation->any_tag ? MQR_ANY_TAG : 0U) |
               (operation->system_buffer ? MQR_SYSTEM_BUFFER : 0U),
      .length = operation->length,
      .buffer = buffer,
      .count = operation->length,
      .function = function_of(operation),
      .datatype = datatype_of(operation),
  };
  struct mqr_recorded_operation* begun = NULL;
  check(mqr_operation_begin(communicator, &spec, &begun), "an operation");
  return begun;
}

static void settle(struct mqr_recorded_operation* begun, const struct scene_operation* operation) {
  if (operation->status == MQR_PENDING)
    return;
  if (operation->queue == MQR_RECEIVE)
    check(mqr_operation_match(begun, operation->actual_peer, operation->actual_tag,
                              operation->actual_length),
          "a match");
  if (operation->status == MQR_COMPLETE)
    check(mqr_operation_complete(begun), "a completion");
}

static void build_communicator(const struct scene_communicator* of, int32_t self, FILE* oracle) {
  struct mqr_recorded_communicator* const added = add_communicator(of, self);
  struct mqr_recorded_operation* leaving[sizeof buffers] = {NULL};
  if (!of->leaves)
    print_communicator(oracle, of, self);
  for (size_t i = 0; i < of->count; ++i) {
    const struct scene_operation* const operation = &of->operations[i];
    // An unexpected message that was only announced has no buffer yet.
    const void* const buffer =
        operation->queue == MQR_UNEXPECTED && !operation->system_buffer ? NULL : &buffers[i];
    struct mqr_recorded_operation* const begun = begin(added, operation, buffer);
    settle(begun, operation);
    if (operation->leaves)
      leaving[i] = begun;
    else
      print_operation(oracle, of, operation, buffer, self);
  }
  for (size_t i = 0; i < of->count; ++i)
    if (leaving[i] != NULL)
      mqr_operation_remove(leaving[i]);
  if (of->leaves)
    mqr_communicator_free(added);
}

void scene_build(int32_t world_rank, FILE* oracle) {
  for (size_t i = 0; i < sizeof scene / sizeof *scene; ++i)
    build_communicator(&scene[i], world_rank, oracle);
}
