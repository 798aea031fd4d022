/* Requests that are in no queue, and what is known of any request's handle. */

#include "dll/recorder/core.h"

#include <string.h>

enum { states = MQR_CANCELLED | MQR_TOLD_COMPLETE };

/* Makes an update, so that readers learn of the change. The caller holds the lock. */
static void change_flags(uint32_t* flags, uint32_t value) {
  mqr_begin_update();
  mqr_publish_word(flags, value);
  mqr_end_update();
}

static struct mqr_recorded_unqueued* take_node(void) {
  if (mqbridge_recorder.handles.word == 0 || (mqbridge_recorder.flags & MQR_OFF) != 0)
    return NULL;
  if (mqr_core.unqueued_pool.slot_bytes == 0)
    mqr_pool_open(&mqr_core.unqueued_pool, sizeof(struct mqr_recorded_unqueued), MQR_MAX_UNQUEUED,
                  NULL);
  return mqr_pool_take(&mqr_core.unqueued_pool);
}

static void fill(struct mqr_unqueued* shared, const struct mqr_unqueued_spec* spec) {
  *shared = (struct mqr_unqueued){
      .node = {.magic = MQR_MAGIC_UNQUEUED},
      .request.word = (uintptr_t)spec->request,
      .communicator.word = spec->communicator != NULL ? (uintptr_t)&spec->communicator->shared : 0,
      .site.word = (uintptr_t)spec->site,
      .function = spec->function,
      .flags = spec->flags | ((spec->flags & MQR_INACTIVE) != 0 ? MQR_PERSISTENT : 0U),
      .tag = spec->tag,
      .buffer.word = (uintptr_t)spec->buffer,
      .count = spec->count,
      .length = spec->length,
  };
  if (spec->datatype != NULL)
    memcpy(shared->datatype, spec->datatype->text, sizeof shared->datatype - 1);
}

void mqr_unqueued_begin(const struct mqr_unqueued_spec* spec) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_unqueued* const made = take_node();
  if (made != NULL) {
    made->place = MQR_NOT_THERE;
    fill(&made->shared, spec);
    mqr_begin_update();
    mqr_list_append(&mqr_core.unqueued, &made->shared.node);
    mqr_end_update();
  }
  if (made == NULL || !mqr_requests_add(&mqr_core.unqueued_requests, made))
    mqr_mark_gap();
  mqr_unlock();
}

struct mqr_recorded_unqueued* mqr_unqueued_take(const void* request) {
  if (__atomic_load_n(&mqr_core.unqueued_requests.count, __ATOMIC_RELAXED) == 0)
    return NULL;
  return mqr_requests_look_up(&mqr_core.unqueued_requests, request, 1);
}

void mqr_unqueued_put_back(struct mqr_recorded_unqueued* unqueued) {
  if (unqueued == NULL || !mqr_lock_ready())
    return;
  mqr_requests_put_back(&mqr_core.unqueued_requests, unqueued);
  mqr_unlock();
}

/* The caller holds the lock. */
static void end(struct mqr_recorded_unqueued* unqueued) {
  mqr_begin_update();
  mqr_list_remove(&mqr_core.unqueued, &unqueued->shared.node);
  mqr_end_update();
  mqr_requests_remove(&mqr_core.unqueued_requests, unqueued);
  mqr_pool_give(&mqr_core.unqueued_pool, unqueued);
}

void mqr_unqueued_end(struct mqr_recorded_unqueued* unqueued) {
  if (unqueued == NULL || !mqr_lock_ready())
    return;
  end(unqueued);
  mqr_unlock();
}

void mqr_unqueued_free(struct mqr_recorded_unqueued* unqueued) {
  if (unqueued == NULL || !mqr_lock_ready())
    return;
  struct mqr_unqueued* const shared = &unqueued->shared;
  if (shared->function != MQR_Grequest_start || (shared->flags & MQR_TOLD_COMPLETE) != 0) {
    end(unqueued);
  } else { /* another thread may complete it as soon as the lock is given back */
    change_flags(&shared->flags, shared->flags | MQR_REQUEST_FREED);
    mqr_requests_put_back(&mqr_core.unqueued_requests, unqueued);
  }
  mqr_unlock();
}

/* Finds a request even if a waiting thread has taken it: another thread may complete, cancel or
 * name it meanwhile. */
static void* find_any(const struct mqr_requests* requests, uintptr_t key) {
  void* const found = mqr_requests_find(requests, key);
  return found != NULL ? found : mqr_requests_find_taken(requests, key);
}

void mqr_unqueued_complete(const void* request) {
  if (!mqr_lock_ready())
    return;
  struct mqr_recorded_unqueued* const unqueued =
      find_any(&mqr_core.unqueued_requests, (uintptr_t)request);
  if (unqueued != NULL && (unqueued->shared.flags & MQR_REQUEST_FREED) != 0)
    end(unqueued);
  else if (unqueued != NULL)
    change_flags(&unqueued->shared.flags, unqueued->shared.flags | MQR_TOLD_COMPLETE);
  mqr_unlock();
}

void mqr_unqueued_activate(struct mqr_recorded_unqueued* unqueued, int active) {
  if (unqueued == NULL || !mqr_lock_ready())
    return;
  const uint32_t others = unqueued->shared.flags & ~(uint32_t)(MQR_INACTIVE | states);
  change_flags(&unqueued->shared.flags, others | (active ? 0U : MQR_INACTIVE));
  mqr_unlock();
}

int mqr_unqueued_is_persistent(const struct mqr_recorded_unqueued* unqueued) {
  return (unqueued->shared.flags & MQR_PERSISTENT) != 0;
}

int mqr_unqueued_is_message(const struct mqr_recorded_unqueued* unqueued) {
  return unqueued->shared.function <= MQR_Recv_init;
}

void mqr_unqueued_forget(const struct mqr_recorded_communicator* communicator) {
  struct mqr_handles* const handles = mqr_address_in(&mqbridge_recorder.handles);
  struct mqr_node* node = handles != NULL ? mqr_address_in(&handles->unqueued.first) : NULL;
  for (; node != NULL; node = mqr_next(node)) {
    struct mqr_unqueued* const unqueued = (struct mqr_unqueued*)(void*)node;
    if (unqueued->communicator.word == (uintptr_t)&communicator->shared)
      mqr_publish(&unqueued->communicator, NULL);
  }
}

/* The places of a request's flags and Fortran handle. */
struct place {
  uint32_t* flags;
  int32_t* fortran;
};

typedef void* find_function(const struct mqr_requests* requests, uintptr_t key);

static struct place place_by(find_function* find, uintptr_t key) {
  struct mqr_recorded_operation* const operation = find(&mqr_core.operation_requests, key);
  if (operation != NULL)
    return (struct place){&operation->shared.flags, &operation->shared.fortran};
  struct mqr_recorded_collective* const collective = find(&mqr_core.collective_requests, key);
  if (collective != NULL)
    return (struct place){&collective->shared.flags, &collective->shared.fortran};
  struct mqr_recorded_unqueued* const unqueued = find(&mqr_core.unqueued_requests, key);
  if (unqueued != NULL)
    return (struct place){&unqueued->shared.flags, &unqueued->shared.fortran};
  return (struct place){NULL, NULL};
}

/* A request that is taken may be over, and its handle another one's: so it is looked for last. */
static struct place place_of(const void* request) {
  const struct place place = place_by(mqr_requests_find, (uintptr_t)request);
  return place.flags != NULL ? place : place_by(mqr_requests_find_taken, (uintptr_t)request);
}

void mqr_request_mark(const void* request, uint32_t flags) {
  if (!mqr_lock_ready())
    return;
  const struct place place = place_of(request);
  if (place.flags != NULL)
    change_flags(place.flags, *place.flags | flags);
  mqr_unlock();
}

void mqr_request_set_fortran(const void* request, int32_t fortran) {
  if (!mqr_lock_ready())
    return;
  const struct place place = place_of(request);
  if (place.flags != NULL) {
    *place.fortran = fortran;
    change_flags(place.flags, *place.flags | MQR_HAS_FORTRAN);
  }
  mqr_unlock();
}

void mqr_operation_mark(struct mqr_recorded_operation* operation, uint32_t flags) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  change_flags(&operation->shared.flags, operation->shared.flags | flags);
  mqr_unlock();
}

void mqr_collective_free_request(struct mqr_recorded_collective* collective) {
  if (collective == NULL || !mqr_lock_ready())
    return;
  mqr_requests_remove(&mqr_core.collective_requests, collective);
  change_flags(&collective->shared.flags, collective->shared.flags | MQR_REQUEST_FREED);
  mqr_unlock();
}
