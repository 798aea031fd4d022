#ifndef MQBRIDGE_DLL_RECORDER_CORE_H
#define MQBRIDGE_DLL_RECORDER_CORE_H

/* What the files of the recorder's core share. */

#include "dll/recorder/handles.h"
#include "dll/recorder/list.h"
#include "dll/recorder/pool.h"
#include "dll/recorder/recorder.h"
#include "dll/recorder/requests.h"

#include <pthread.h>

/* In each of these, readers read `shared` alone; the rest is ours. */
struct mqr_recorded_communicator {
  union mqr_front front;
  struct mqr_communicator shared;
  struct mqr_members queues[MQR_QUEUES];
  struct mqr_members under_way;
  struct mqr_slot peers; /* struct mqr_channels: how many sends ever went to a peer, tag 0 */
  uint32_t posted;       /* operations that are no sends, modulo 2^32 */
};

struct mqr_recorded_operation {
  union mqr_front front;
  struct mqr_operation shared;
  struct mqr_recorded_communicator* communicator;
  /* requests.h, as `shared.own`; of a receive whose request was freed: the one freed after it */
  struct mqr_recorded_operation* chain;
};

struct mqr_recorded_collective {
  union mqr_front front;
  struct mqr_collective shared;
  struct mqr_recorded_communicator* communicator;
  struct mqr_recorded_collective* chain;
  uint32_t place; /* requests.h */
};

struct mqr_recorded_errhandler {
  union mqr_front front;
  struct mqr_errhandler shared;
  uint32_t references; /* the program's */
  uint32_t attached;   /* windows and files that have it */
};

struct mqr_recorded_unqueued {
  union mqr_front front;
  struct mqr_unqueued shared;
  struct mqr_recorded_unqueued* chain;
  uint32_t place;
};

#define MQR_BEHIND_FRONT(structure)                                                                \
  static_assert(offsetof(struct structure, shared) == sizeof(union mqr_front), #structure)
MQR_BEHIND_FRONT(mqr_recorded_communicator);
MQR_BEHIND_FRONT(mqr_recorded_operation);
MQR_BEHIND_FRONT(mqr_recorded_collective);
MQR_BEHIND_FRONT(mqr_recorded_errhandler);
MQR_BEHIND_FRONT(mqr_recorded_unqueued);

struct mqr_core {
  struct mqr_members communicators;
  struct mqr_members joints;
  struct mqr_pool operations;
  struct mqr_pool collectives;
  struct mqr_requests operation_requests;
  struct mqr_recorded_operation* first_freed; /* the oldest of `freed` receives */
  struct mqr_recorded_operation* last_freed;
  uint32_t freed;
  struct mqr_requests collective_requests;
  struct mqr_members errhandlers;
  struct mqr_members unqueued;
  struct mqr_pool unqueued_pool; /* opened by the first that takes from it */
  struct mqr_requests unqueued_requests;
  pthread_mutex_t lock;
  int unlocked; /* threads call one after the other */
};
extern struct mqr_core mqr_core;
extern struct mqr_root mqbridge_recorder;

static inline void mqr_lock(void) {
  if (!mqr_core.unlocked)
    pthread_mutex_lock(&mqr_core.lock);
}

static inline void mqr_unlock(void) {
  if (!mqr_core.unlocked)
    pthread_mutex_unlock(&mqr_core.lock);
}

/* Takes the lock where the recorder is ready. */
static inline int mqr_lock_ready(void) {
  mqr_lock();
  if (mqbridge_recorder.state == MQR_INITIALIZED)
    return 1;
  mqr_unlock();
  return 0;
}

/* Between these two the generation is odd. */
static inline void mqr_begin_update(void) {
  mqr_publish_word(&mqbridge_recorder.generation, mqbridge_recorder.generation + 1);
}
static inline void mqr_end_update(void) {
  mqr_publish_word(&mqbridge_recorder.generation, mqbridge_recorder.generation + 1);
}

/* With the lock. From here on lists may be incomplete, and counters are meaningless. */
static inline void mqr_mark_gap(void) {
  if ((mqbridge_recorder.flags & MQR_GAPS) == 0)
    mqr_publish_word(&mqbridge_recorder.flags, mqbridge_recorder.flags | MQR_GAPS);
}

static inline struct mqr_recorded_communicator* mqr_communicator_at(struct mqr_node* node) {
  return (struct mqr_recorded_communicator*)(void*)mqr_front_of(node);
}

/* To be called with the lock, while the generation is odd, after an operation or a collective of
 * the communicator has gone. If it was the last one, and the program has freed the communicator,
 * the communicator goes, too. Returns the communicator if it has gone: to be released after the
 * update. Else NULL. */
struct mqr_recorded_communicator*
mqr_communicator_settle(struct mqr_recorded_communicator* communicator);
/* Frees the memory of one that no reader can find any more. NULL: nothing. */
void mqr_communicator_release(struct mqr_recorded_communicator* communicator);

/* With the lock, and the generation odd: removes error handlers that nobody has any more. */
void mqr_errhandlers_settle(void);
/* With the lock: the communicator goes, and the requests on it forget it. */
void mqr_unqueued_forget(const struct mqr_recorded_communicator* communicator);
/* With the lock, and no reader any more: gives all back. */
void mqr_handles_close(void);
/* Frees all nodes of a list that no reader can find any more. */
void mqr_joints_release(struct mqr_node* first);

/* If this thread's call is on that communicator, it is on none any more. */
void mqr_thread_forget(const struct mqr_recorded_communicator* communicator);
/* In fork's child: no thread is known. */
void mqr_threads_abandon(void);

/* Finds a node by its request, under the lock. `take`: takes it out, too (mqr_requests_take()).
 * NULL: there is no such request, or the recorder is not ready. */
void* mqr_requests_look_up(struct mqr_requests* requests, const void* request, int take);

/* Frees a struct mqr_variables that no reader can find any more. NULL: nothing. */
void mqr_variables_release(struct mqr_variables* block);

/* Makes the texts that operations take. */
void mqr_operations_open(void);

/* Copies text into a field of zeroes, which stays terminated. NULL: "". */
void mqr_copy_text(char* to, size_t size, const char* text);

#endif
