#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/core.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED char mqbridge_recorder_version[] = MQR_VERSION;

/* A debugger looks for this by name. */
EXPORTED struct mqr_root mqbridge_recorder = {
    .magic = MQR_MAGIC_ROOT,
    .version_major = MQR_VERSION_MAJOR,
    .version_minor = MQR_VERSION_MINOR,
    .root_size = sizeof(struct mqr_root),
    .communicator_size = sizeof(struct mqr_communicator),
    .operation_size = sizeof(struct mqr_operation),
    .address_size = sizeof(void*),
};

static struct mqr_root* const root = &mqbridge_recorder;

#define REQUESTS(structure, place_at)                                                              \
  {                                                                                                \
    .key = offsetof(struct structure, shared.request.word),                                        \
    .chain = offsetof(struct structure, chain), .place = offsetof(struct structure, place_at)      \
  }
#define NOTHING_YET                                                                                \
  {                                                                                                \
    .communicators = {&mqbridge_recorder.communicators, NULL},                                     \
    .joints = {&mqbridge_recorder.joints, NULL},                                                   \
    .operation_requests = REQUESTS(mqr_recorded_operation, shared.own),                            \
    .collective_requests = REQUESTS(mqr_recorded_collective, place),                               \
    .unqueued_requests = REQUESTS(mqr_recorded_unqueued, place), .lock = PTHREAD_MUTEX_INITIALIZER \
  }
struct mqr_core mqr_core = NOTHING_YET;

void mqr_copy_text(char* to, size_t size, const char* text) {
  if (text != NULL)
    memcpy(to, text, strnlen(text, size - 1));
}

enum mqr_result mqr_init(const struct mqr_placement* placement) {
  mqr_lock();
  const int ready = root->state == MQR_INITIALIZED;
  if (!ready) {
    mqr_pool_open(&mqr_core.operations, sizeof(struct mqr_recorded_operation), MQR_MAX_OPERATIONS,
                  placement);
    mqr_pool_open(&mqr_core.collectives, sizeof(struct mqr_recorded_collective),
                  MQR_MAX_COLLECTIVES, NULL);
    mqr_operations_open();
    mqr_begin_update();
    root->flags = 0;
    mqr_publish_word(&root->state, MQR_INITIALIZED);
    mqr_end_update();
  }
  mqr_unlock();
  return ready ? MQR_BAD_STATE : MQR_OK;
}

static void publish_no_joints(void) {
  mqr_publish(&root->joints.first, NULL);
  mqr_publish_word(&root->joints.count, 0);
  mqr_publish(&root->job, NULL);
}

void mqr_finalize(void) {
  if (!mqr_lock_ready())
    return;
  struct mqr_node* node = mqr_address_in(&root->communicators.first);
  struct mqr_node* const joints = mqr_address_in(&root->joints.first);
  void* const library = mqr_address_in(&root->library);
  struct mqr_variables* const variables = mqr_address_in(&root->variables);
  void* const job = mqr_address_in(&root->job);
  mqr_begin_update();
  mqr_publish_word(&root->state, MQR_FINALIZED);
  mqr_publish(&root->communicators.first, NULL);
  mqr_publish_word(&root->communicators.count, 0);
  mqr_publish(&root->library, NULL);
  mqr_publish(&root->variables, NULL);
  publish_no_joints();
  mqr_end_update();
  mqr_core.communicators.last = NULL;
  mqr_core.joints.last = NULL;
  while (node != NULL) {
    struct mqr_node* const next = mqr_next(node);
    mqr_communicator_release(mqr_communicator_at(node));
    node = next;
  }
  mqr_requests_close(&mqr_core.operation_requests);
  mqr_core.first_freed = mqr_core.last_freed = NULL;
  mqr_core.freed = 0;
  mqr_requests_close(&mqr_core.collective_requests);
  mqr_pool_close(&mqr_core.operations);
  mqr_pool_close(&mqr_core.collectives);
  mqr_variables_release(variables);
  mqr_handles_close();
  mqr_joints_release(joints);
  free(library);
  free(job);
  mqr_unlock();
}

/* No memory is given back: another thread of the parent may have been in the middle of an update,
 * or of malloc(). */
void mqr_abandon(void) {
  mqr_publish_word(&root->state, MQR_FINALIZED);
  mqr_publish(&root->communicators.first, NULL);
  mqr_publish_word(&root->communicators.count, 0);
  mqr_publish(&root->library, NULL);
  mqr_publish(&root->variables, NULL);
  mqr_publish(&root->handles, NULL);
  publish_no_joints();
  mqr_threads_abandon();
  mqr_publish_word(&root->generation, (root->generation + 1) & ~UINT32_C(1));
  mqr_core = (struct mqr_core)NOTHING_YET;
}

void* mqr_requests_look_up(struct mqr_requests* requests, const void* request, int take) {
  if (!mqr_lock_ready())
    return NULL;
  void* const found = take ? mqr_requests_take(requests, (uintptr_t)request)
                           : mqr_requests_find(requests, (uintptr_t)request);
  mqr_unlock();
  return found;
}

void mqr_set_threads(enum mqr_thread_level level) {
  mqr_publish_word(&root->thread_level, level);
  mqr_core.unlocked = level != MQR_LEVEL_UNKNOWN && level < MQR_LEVEL_MULTIPLE;
}

static int set_text(struct mqr_slot* slot, size_t size, const char* text) {
  char* const after = calloc(1, size);
  if (after == NULL)
    return 0;
  mqr_copy_text(after, size, text);
  mqr_lock();
  void* const before = mqr_address_in(slot);
  mqr_publish(slot, after);
  mqr_unlock();
  free(before);
  return 1;
}

void mqr_set_library(const char* text) {
  if (!set_text(&root->library, MQR_LIBRARY_SIZE, text))
    mqr_note_gap(); /* without it readers take the queues for those of an MPI itself */
}

void mqr_set_job(const char* text) {
  set_text(&root->job, MQR_JOB_SIZE, text);
}

void mqr_set_recording(int on) {
  mqr_lock();
  mqr_publish_word(&root->flags,
                   on ? root->flags & ~(uint32_t)MQR_OFF : root->flags | (uint32_t)MQR_OFF);
  mqr_unlock();
}

void mqr_note_gap(void) {
  mqr_lock();
  mqr_mark_gap();
  mqr_unlock();
}

/* The counts of each ring stay. The next send that returns takes a new one. */
void mqr_flush(void) {
  if (!mqr_lock_ready())
    return;
  mqr_begin_update();
  for (struct mqr_node* node = mqr_address_in(&root->communicators.first); node != NULL;
       node = mqr_next(node)) {
    struct mqr_slot* const ring = &mqr_communicator_at(node)->shared.returned_sends;
    void* const before = mqr_address_in(ring);
    mqr_publish(ring, NULL);
    free(before);
  }
  mqr_end_update();
  mqr_unlock();
}
