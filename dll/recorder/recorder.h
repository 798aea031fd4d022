#ifndef MQBRIDGE_DLL_RECORDER_RECORDER_H
#define MQBRIDGE_DLL_RECORDER_RECORDER_H

/* The recorder's core: keeps communicators and pending operations of this process where a debugger
 * finds them (layout.h). C17 and libc; knows nothing of MPI.
 *
 * Any thread may call any function at any time; one lock orders them. A debugger that stops the
 * process in the middle of a call sees the state before it or after it. Not for signal handlers. */

#include "dll/recorder/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. They belong to the recorder: each is valid until it is removed, or mqr_finalize(). */
struct mqr_recorded_communicator;
struct mqr_recorded_operation;

enum mqr_result {
  MQR_OK,
  MQR_NO_MEMORY,
  MQR_IN_USE,    /* a communicator that has pending operations is not removed */
  MQR_BAD_STATE, /* before mqr_init(), after mqr_finalize(), or not in this order */
  MQR_BAD_VALUE
};

/* Where the nodes of operations lie in memory: for benchmarks. Shuffled in an arena that they
 * nearly fill, or in one much larger than they need (sparse). A new arena is taken, shuffled in
 * itself, when one is full. */
struct mqr_placement {
  int shuffled;       /* 0: one after the other */
  size_t arena_bytes; /* at least one node fits; 0: 64 KiB */
  uint64_t seed;      /* the same seed gives the same order */
};

/* Makes the recorder ready, again after mqr_finalize(), too. `placement` may be NULL.
 * MQR_BAD_STATE: it is ready already. */
enum mqr_result mqr_init(const struct mqr_placement* placement);

/* Removes everything; readers learn that there are no queues any more. */
void mqr_finalize(void);

/* Nothing of it is kept: strings and groups are copied. */
struct mqr_communicator_spec {
  const char* name;            /* NULL: "". Cut to MQR_NAME_SIZE - 1 bytes */
  uint64_t id;                 /* struct mqr_communicator */
  int32_t local_rank;          /* in [0, size) */
  int32_t size;                /* 1 to MQR_MAX_GROUP */
  const int32_t* group;        /* `size` ranks in MPI_COMM_WORLD; NULL: not known */
  int32_t remote_size;         /* 0: an intracommunicator */
  const int32_t* remote_group; /* `remote_size` ranks; NULL: not known */
};

/* The new communicator is the last of the list. */
enum mqr_result mqr_communicator_add(const struct mqr_communicator_spec* spec,
                                     struct mqr_recorded_communicator** added);
enum mqr_result mqr_communicator_rename(struct mqr_recorded_communicator* communicator,
                                        const char* name);
enum mqr_result mqr_communicator_remove(struct mqr_recorded_communicator* communicator);

/* As struct mqr_operation, without what the recorder knows itself. Texts are copied, and cut to
 * MQR_WORD_SIZE - 1 bytes. */
struct mqr_operation_spec {
  enum mqr_queue queue;
  int32_t peer;
  int32_t tag;
  int any_tag;
  int system_buffer;
  uint64_t length; /* bytes */
  const void* buffer;
  const void* request;
  uint64_t count;
  const char* call;     /* NULL: unknown */
  const char* datatype; /* NULL: unknown */
};

/* Adds a pending operation at the end of a queue. A send's actual fields are those given here. */
enum mqr_result mqr_operation_begin(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_operation_spec* spec,
                                    struct mqr_recorded_operation** begun);

/* A pending receive has met its message: `peer` is its sender, `length` its bytes. MQR_BAD_STATE:
 * no pending receive. */
enum mqr_result mqr_operation_match(struct mqr_recorded_operation* operation, int32_t peer,
                                    int32_t tag, uint64_t length);

/* The operation is complete, and not yet known to be by the program. MQR_BAD_STATE: a receive that
 * was not matched, or no send and no receive. */
enum mqr_result mqr_operation_complete(struct mqr_recorded_operation* operation);

void mqr_operation_remove(struct mqr_recorded_operation* operation);

#ifdef __cplusplus
}
#endif

#endif
