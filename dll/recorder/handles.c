#include "dll/recorder/core.h"

#include <stdlib.h>

/* The structure that readers find by the root's slot. mqr_handles_open() makes it. */
static struct mqr_handles* handles(void) {
  return mqr_address_in(&mqbridge_recorder.handles);
}

static void start_lists(struct mqr_handles* made) {
  made->errhandlers = (struct mqr_list){.count = 0};
  made->unqueued = (struct mqr_list){.count = 0};
  mqr_core.errhandlers = (struct mqr_members){&made->errhandlers, NULL};
  mqr_core.unqueued = (struct mqr_members){&made->unqueued, NULL};
}

void mqr_handles_open(const struct mqr_handles* constants) {
  if (!mqr_lock_ready())
    return;
  struct mqr_handles* const made = handles() == NULL ? malloc(sizeof *made) : NULL;
  if (made != NULL) {
    *made = *constants;
    made->magic = MQR_MAGIC_HANDLES;
    made->size = sizeof *made;
    made->errhandler_size = sizeof(struct mqr_errhandler);
    made->unqueued_size = sizeof(struct mqr_unqueued);
    made->collective_size = sizeof(struct mqr_collective);
    start_lists(made);
    mqr_publish(&mqbridge_recorder.handles, made);
  }
  mqr_unlock();
}

void mqr_handles_note(uint32_t flags) {
  if (!mqr_lock_ready())
    return;
  if (handles() != NULL)
    mqr_publish_word(&handles()->flags, handles()->flags | flags);
  mqr_unlock();
}

static void release_all(struct mqr_node* node) {
  while (node != NULL) {
    struct mqr_node* const next = mqr_next(node);
    free(mqr_front_of(node));
    node = next;
  }
}

void mqr_handles_close(void) {
  struct mqr_handles* const closed = handles();
  if (closed == NULL)
    return;
  mqr_publish(&mqbridge_recorder.handles, NULL);
  release_all(mqr_address_in(&closed->errhandlers.first));
  free(closed);
  mqr_requests_close(&mqr_core.unqueued_requests);
  mqr_pool_close(&mqr_core.unqueued_pool);
}

/* There are few error handlers, and they are seldom looked for: they have no table. */

static struct mqr_recorded_errhandler* errhandler_at(struct mqr_node* node) {
  return (struct mqr_recorded_errhandler*)(void*)mqr_front_of(node);
}

static struct mqr_recorded_errhandler* find_errhandler(const void* handle) {
  if (handles() == NULL)
    return NULL;
  for (struct mqr_node* node = mqr_address_in(&handles()->errhandlers.first); node != NULL;
       node = mqr_next(node))
    if (errhandler_at(node)->shared.handle.word == (uintptr_t)handle)
      return errhandler_at(node);
  return NULL;
}

static int is_attached(const struct mqr_recorded_errhandler* errhandler) {
  if (errhandler->attached != 0)
    return 1;
  for (struct mqr_node* node = mqr_address_in(&mqbridge_recorder.communicators.first); node != NULL;
       node = mqr_next(node))
    if (mqr_communicator_at(node)->shared.errhandler.word == errhandler->shared.handle.word)
      return 1;
  return 0;
}

static void remove_errhandler(struct mqr_recorded_errhandler* errhandler) {
  mqr_list_remove(&mqr_core.errhandlers, &errhandler->shared.node);
  free(errhandler);
}

void mqr_errhandlers_settle(void) {
  struct mqr_node* node = handles() != NULL ? mqr_address_in(&handles()->errhandlers.first) : NULL;
  while (node != NULL) {
    struct mqr_recorded_errhandler* const errhandler = errhandler_at(node);
    node = mqr_next(node);
    if (errhandler->references == 0 && !is_attached(errhandler))
      remove_errhandler(errhandler);
  }
}

static struct mqr_recorded_errhandler* new_errhandler(const struct mqr_errhandler_spec* spec) {
  struct mqr_recorded_errhandler* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  made->references = 1;
  made->shared = (struct mqr_errhandler){
      .node = {.magic = MQR_MAGIC_ERRHANDLER},
      .handle.word = (uintptr_t)spec->handle,
      .function.word = (uintptr_t)spec->function,
      .fortran = spec->fortran,
      .flags = spec->flags,
      .predefined = spec->predefined,
  };
  return made;
}

void mqr_errhandler_add(const struct mqr_errhandler_spec* spec) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_errhandler* const before = find_errhandler(spec->handle);
  const int fits =
      handles() != NULL && (before != NULL || handles()->errhandlers.count < MQR_MAX_ERRHANDLERS);
  struct mqr_recorded_errhandler* const made = fits ? new_errhandler(spec) : NULL;
  if (made != NULL) {
    mqr_begin_update();
    if (before != NULL)
      remove_errhandler(before);
    mqr_list_append(&mqr_core.errhandlers, &made->shared.node);
    mqr_end_update();
  } else if (handles() != NULL) {
    mqr_publish_word(&handles()->flags, handles()->flags | MQR_UNSEEN_ERRHANDLERS);
  }
  mqr_unlock();
}

int mqr_errhandler_is_known(const void* handle) {
  if (!mqr_lock_ready())
    return 0;
  const int known = find_errhandler(handle) != NULL;
  mqr_unlock();
  return known;
}

void mqr_errhandler_refer(const void* handle) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_errhandler* const errhandler = find_errhandler(handle);
  if (errhandler != NULL && errhandler->shared.predefined == MQR_OWN_ERRHANDLER) {
    ++errhandler->references;
    mqr_publish_word(&errhandler->shared.flags,
                     errhandler->shared.flags & ~(uint32_t)MQR_HANDLE_FREED);
  }
  mqr_unlock();
}

void mqr_errhandler_attach(const void* handle) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_errhandler* const errhandler = find_errhandler(handle);
  if (errhandler != NULL)
    ++errhandler->attached;
  mqr_unlock();
}

void mqr_errhandler_detach(const void* handle) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_errhandler* const errhandler = find_errhandler(handle);
  if (errhandler != NULL && errhandler->attached != 0 && --errhandler->attached == 0) {
    mqr_begin_update();
    mqr_errhandlers_settle();
    mqr_end_update();
  }
  mqr_unlock();
}

void mqr_errhandler_free(const void* handle) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_errhandler* const errhandler = find_errhandler(handle);
  if (errhandler != NULL && errhandler->shared.predefined == MQR_OWN_ERRHANDLER &&
      errhandler->references != 0 && --errhandler->references == 0) {
    mqr_begin_update();
    mqr_publish_word(&errhandler->shared.flags, errhandler->shared.flags | MQR_HANDLE_FREED);
    mqr_errhandlers_settle();
    mqr_end_update();
  }
  mqr_unlock();
}
