#ifndef MQBRIDGE_DLL_RECORDER_RECORDER_H
#define MQBRIDGE_DLL_RECORDER_RECORDER_H

/* The recorder's core: keeps communicators, pending operations, counters and calls of this process
 * where a debugger finds them (layout.h). C17 and libc; knows nothing of MPI.
 *
 * Any thread may call any function at any time; one lock orders them, unless mqr_set_threads() said
 * that there is never more than one at a time. A debugger that stops the process in the middle of a
 * call sees the state before it or after it. Not for signal handlers. */

#include "dll/recorder/functions.h"
#include "dll/recorder/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. They belong to the recorder: each is valid until it is removed, or mqr_finalize(). */
struct mqr_recorded_communicator;
struct mqr_recorded_operation;

/* How much is kept at most. What comes beyond is missing in its list, and readers are told so:
 * MQR_GAPS, or MQR_UNSEEN_ERRHANDLERS. */
enum {
  MQR_MAX_OPERATIONS = 1 << 20,
  MQR_MAX_FREED = 1 << 12, /* of these, receives whose request was freed: the oldest one goes */
  MQR_MAX_COLLECTIVES = 1 << 16,
  MQR_MAX_UNQUEUED = 1 << 16,
  MQR_MAX_COMMUNICATORS = 1 << 16,
  MQR_MAX_THREADS = 1 << 12,
  MQR_MAX_ERRHANDLERS = 1 << 12,
};

enum mqr_result {
  MQR_OK,
  MQR_NO_MEMORY, /* or there are as many as are kept */
  MQR_BAD_STATE, /* before mqr_init(), after mqr_finalize(), or not in this order */
  MQR_BAD_VALUE,
  MQR_OFF_NOW /* nothing is recorded at present: mqr_set_recording() */
};

/* Where the nodes of operations lie in memory: for benchmarks. Nodes can be shuffled in an arena
 * that they nearly fill, or in one that is much larger than they need (sparse). When an arena is
 * full, a new one is taken and shuffled by itself. */
struct mqr_placement {
  int shuffled;       /* 0: one after the other */
  size_t arena_bytes; /* at least one node fits; 0: 64 KiB */
  uint64_t seed;      /* the same seed gives the same order */
};

/* Makes the recorder ready, again after mqr_finalize(), too. `placement` may be NULL.
 * MQR_BAD_STATE: it is ready already. */
enum mqr_result mqr_init(const struct mqr_placement* placement);

/* What MPI_Init_thread provided. Below MPI_THREAD_MULTIPLE no lock is taken from here on: threads
 * call one after the other. Called by one thread, while no other one is in here. */
void mqr_set_threads(enum mqr_thread_level level);
/* MPI_Get_library_version of the recorded MPI (struct mqr_root). The text is copied. */
void mqr_set_library(const char* text);
/* The launcher's name of the job (struct mqr_root). The text is copied. */
void mqr_set_job(const char* text);
/* MPI_Pcontrol: 0 stops recording new operations, and says so to readers; 1 starts it again. */
void mqr_set_recording(int on);
/* Something was not recorded, and will be missing: MQR_GAPS. */
void mqr_note_gap(void);
/* MPI_Pcontrol(2): the sends that have returned are forgotten, not their number. */
void mqr_flush(void);
/* In a child that fork() made: it has no queues. To be called by nobody else. */
void mqr_abandon(void);

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
  uint32_t flags;              /* enum mqr_communicator_flags */
};

/* As struct mqr_joint. The text is copied. */
struct mqr_joint_spec {
  uint64_t id, base, path;
  uint64_t began, ended;
  uint32_t sequence;
  enum mqr_function function;
  int32_t size, remote_size;
  const char* mark; /* NULL: "" */
};
/* MQR_NO_MEMORY: also after MQR_MAX_JOINTS of them. */
enum mqr_result mqr_joint_add(const struct mqr_joint_spec* spec);

/* The new communicator is the last of the list. */
enum mqr_result mqr_communicator_add(const struct mqr_communicator_spec* spec,
                                     struct mqr_recorded_communicator** added);
/* The same for one that comes from a joint (struct mqr_communicator). */
enum mqr_result mqr_communicator_add_joined(const struct mqr_communicator_spec* spec,
                                            uint64_t joint, uint64_t path,
                                            struct mqr_recorded_communicator** added);
enum mqr_result mqr_communicator_rename(struct mqr_recorded_communicator* communicator,
                                        const char* name);
/* The program has freed it. It goes now, or with the last of its operations. */
void mqr_communicator_free(struct mqr_recorded_communicator* communicator);
/* Its place among the collectives of the communicator: how many were entered before it. */
uint32_t mqr_communicator_enter_collective(struct mqr_recorded_communicator* communicator);
/* MPI has refused the last one that was entered: it does not count. */
void mqr_communicator_refuse_collective(struct mqr_recorded_communicator* communicator);
uint64_t mqr_communicator_id(const struct mqr_recorded_communicator* communicator);
/* A peer's rank in MPI_COMM_WORLD, or MQR_WORLD_RANK_UNKNOWN. */
int32_t mqr_communicator_world_rank(const struct mqr_recorded_communicator* communicator,
                                    int32_t peer);

/* A text, padded with zeroes: it is copied as a block. The last byte is taken for 0. */
struct mqr_word {
  char text[MQR_WORD_SIZE];
};

/* As struct mqr_operation, without what the recorder knows itself. The text is copied. */
struct mqr_operation_spec {
  enum mqr_queue queue;
  enum mqr_function function; /* MQR_NO_FUNCTION: unknown */
  uint32_t flags;             /* enum mqr_operation_flags */
  int32_t peer;
  int32_t tag;
  uint64_t length; /* bytes */
  const void* buffer;
  const void* request;
  uint64_t count;
  const struct mqr_word* datatype; /* NULL: unknown */
  const void* site;                /* who called MPI; NULL: unknown */
};

/* Adds an operation at the end of a queue, pending or MQR_INACTIVE. A send's actual fields are
 * those given here, and it counts as sent from here on unless it is inactive. MQR_OFF_NOW: nothing
 * is recorded at present. `begun` is NULL unless the result is MQR_OK, and every function takes
 * NULL for an operation that is not recorded. */
enum mqr_result mqr_operation_begin(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_operation_spec* spec,
                                    struct mqr_recorded_operation** begun);

/* A pending receive has met its message: `peer` is its sender, `length` its bytes. MQR_BAD_STATE:
 * no pending receive. */
enum mqr_result mqr_operation_match(struct mqr_recorded_operation* operation, int32_t peer,
                                    int32_t tag, uint64_t length);

/* The operation is complete, and the program does not know it yet. MQR_BAD_STATE: a receive that
 * was not matched, or neither a send nor a receive. */
enum mqr_result mqr_operation_complete(struct mqr_recorded_operation* operation);

/* Removes the operation. The counters stay as they are. */
void mqr_operation_remove(struct mqr_recorded_operation* operation);

/* The program knows that the send is complete: it goes into the ring of sends that have returned. A
 * cancelled send is taken out of the count instead. A persistent send becomes inactive. */
void mqr_send_end(struct mqr_recorded_operation* operation, int cancelled);
/* The program knows that the receive is complete: a message of `peer` with `tag` is counted as
 * received, unless the receive was cancelled, the message came from MPI_PROC_NULL, or MPI_Mprobe
 * had taken it before (MQR_TAKEN). A persistent receive becomes inactive. */
void mqr_receive_end(struct mqr_recorded_operation* operation, int32_t peer, int32_t tag,
                     int cancelled);
/* The same for a receive or MPI_Mprobe that was not recorded as an operation. */
void mqr_count_received(struct mqr_recorded_communicator* communicator, int32_t peer, int32_t tag);
/* A persistent operation is pending again. */
void mqr_operation_start(struct mqr_recorded_operation* operation);

/* Operations by the program's handle of their request, any number of bytes that fit a pointer. The
 * entry goes with its operation. Adding one that is there already leaves both. */
void mqr_request_add(const void* request, struct mqr_recorded_operation* operation);
struct mqr_recorded_operation* mqr_request_find(const void* request);
/* As find, and the operation is taken until mqr_request_add() puts it back: no other thread finds
 * it, even if MPI has given the handle to another request in the meantime. What another thread
 * notes about the request meanwhile (handles.h) still reaches the operation. */
struct mqr_recorded_operation* mqr_request_take(const void* request);

enum mqr_queue mqr_operation_queue(const struct mqr_recorded_operation* operation);
int mqr_operation_is_active(const struct mqr_recorded_operation* operation); /* no MQR_INACTIVE */
int mqr_operation_is_persistent(const struct mqr_recorded_operation* operation);

/* Nonblocking collectives, found by their request as operations are. */
struct mqr_collective_spec {
  enum mqr_function function;
  uint32_t sequence; /* mqr_communicator_enter_collective() */
  int32_t root;      /* struct mqr_thread */
  const void* request;
  const void* site;
};
struct mqr_recorded_collective;
enum mqr_result mqr_collective_begin(struct mqr_recorded_communicator* communicator,
                                     const struct mqr_collective_spec* spec,
                                     struct mqr_recorded_collective** begun);
struct mqr_recorded_collective* mqr_collective_find(const void* request);
/* As mqr_request_take(). */
struct mqr_recorded_collective* mqr_collective_take(const void* request);
void mqr_collective_put_back(struct mqr_recorded_collective* collective);
void mqr_collective_end(struct mqr_recorded_collective* collective);

/* What this thread is in, from mqr_enter() to mqr_leave(). */
struct mqr_call_spec {
  enum mqr_function function;
  const void* site;
  const struct mqr_recorded_communicator* communicator; /* NULL: on none, or not known */
  int has_sequence;
  uint32_t sequence;
  int32_t root; /* MQR_NO_ROOT unless it is a collective with one */
};
void mqr_enter(const struct mqr_call_spec* call);
void mqr_leave(void);

/* This thread's call waits for these operations and collectives, and for `unseen` unknown ones.
 * `needed` of all of them must complete. Between mqr_enter() and mqr_leave(). NULL elements are
 * skipped. */
void mqr_wait_for(struct mqr_recorded_operation* const* operations, size_t operation_count,
                  struct mqr_recorded_collective* const* collectives, size_t collective_count,
                  uint32_t needed, uint32_t unseen);

#ifdef __cplusplus
}
#endif

#endif
