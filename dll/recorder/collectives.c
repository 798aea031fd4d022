#include "dll/recorder/core.h"

enum mqr_result mqr_collective_begin(struct mqr_recorded_communicator* communicator,
                                     const struct mqr_collective_spec* spec,
                                     struct mqr_recorded_collective** begun) {
  *begun = NULL;
  if (!mqr_lock_ready())
    return MQR_BAD_STATE;
  if ((mqbridge_recorder.flags & MQR_OFF) != 0) {
    mqr_mark_gap();
    mqr_unlock();
    return MQR_OFF_NOW;
  }
  struct mqr_recorded_collective* const made = mqr_pool_take(&mqr_core.collectives);
  if (made != NULL) {
    made->communicator = communicator;
    made->place = MQR_NOT_THERE;
    made->shared = (struct mqr_collective){
        .node = {.magic = MQR_MAGIC_COLLECTIVE},
        .function = spec->function,
        .sequence = spec->sequence,
        .root = spec->root,
        .request.word = (uintptr_t)spec->request,
        .site.word = (uintptr_t)spec->site,
    };
    mqr_begin_update();
    mqr_list_append(&communicator->under_way, &made->shared.node);
    mqr_end_update();
  }
  if (made == NULL ||
      (spec->request != NULL && !mqr_requests_add(&mqr_core.collective_requests, made)))
    mqr_mark_gap();
  mqr_unlock();
  *begun = made;
  return made != NULL ? MQR_OK : MQR_NO_MEMORY;
}

struct mqr_recorded_collective* mqr_collective_find(const void* request) {
  return mqr_requests_look_up(&mqr_core.collective_requests, request, 0);
}

struct mqr_recorded_collective* mqr_collective_take(const void* request) {
  return mqr_requests_look_up(&mqr_core.collective_requests, request, 1);
}

void mqr_collective_put_back(struct mqr_recorded_collective* collective) {
  if (collective == NULL || !mqr_lock_ready())
    return;
  mqr_requests_put_back(&mqr_core.collective_requests, collective);
  mqr_unlock();
}

void mqr_collective_end(struct mqr_recorded_collective* collective) {
  if (collective == NULL || !mqr_lock_ready())
    return;
  struct mqr_recorded_communicator* const communicator = collective->communicator;
  mqr_begin_update();
  mqr_list_remove(&communicator->under_way, &collective->shared.node);
  struct mqr_recorded_communicator* const gone = mqr_communicator_settle(communicator);
  mqr_end_update();
  mqr_requests_remove(&mqr_core.collective_requests, collective);
  mqr_pool_give(&mqr_core.collectives, collective);
  mqr_communicator_release(gone);
  mqr_unlock();
}
