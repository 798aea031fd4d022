#include "dll/recorder/core.h"

#include <stdlib.h>
#include <string.h>

static char* new_name(const char* text) {
  char* const name = calloc(1, MQR_NAME_SIZE);
  if (name != NULL)
    mqr_copy_text(name, MQR_NAME_SIZE, text);
  return name;
}

/* A missing or empty group is a success: malloc(0) may be NULL although there is memory. */
static int copy_group(struct mqr_slot* slot, const int32_t* group, int32_t size) {
  if (group == NULL || size == 0)
    return 1;
  int32_t* const copy = malloc((size_t)size * sizeof *copy);
  if (copy == NULL)
    return 0;
  memcpy(copy, group, (size_t)size * sizeof *copy);
  slot->word = (uintptr_t)copy;
  return 1;
}

void mqr_communicator_release(struct mqr_recorded_communicator* communicator) {
  if (communicator == NULL)
    return;
  struct mqr_communicator* const shared = &communicator->shared;
  free(mqr_address_in(&shared->name));
  free(mqr_address_in(&shared->group));
  free(mqr_address_in(&shared->remote_group));
  free(mqr_address_in(&shared->returned_sends));
  free(mqr_address_in(&shared->channels));
  free(mqr_address_in(&communicator->peers));
  free(mqr_address_in(&shared->topology));
  free(mqr_address_in(&shared->attributes));
  free(communicator);
}

static struct mqr_recorded_communicator*
new_communicator(const struct mqr_communicator_spec* spec) {
  struct mqr_recorded_communicator* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  struct mqr_communicator* const shared = &made->shared;
  shared->node.magic = MQR_MAGIC_COMMUNICATOR;
  shared->node.kind = spec->remote_size > 0 ? MQR_INTER : MQR_INTRA;
  shared->id = spec->id;
  shared->name.word = (uintptr_t)new_name(spec->name);
  shared->local_rank = spec->local_rank;
  shared->size = spec->size;
  shared->remote_size = spec->remote_size;
  shared->flags = spec->flags;
  for (int i = 0; i < MQR_QUEUES; ++i)
    made->queues[i].shared = &shared->queues[i];
  made->under_way.shared = &shared->under_way;
  if (shared->name.word != 0 && copy_group(&shared->group, spec->group, spec->size) &&
      copy_group(&shared->remote_group, spec->remote_group, spec->remote_size))
    return made;
  mqr_communicator_release(made);
  return NULL;
}

enum mqr_result mqr_communicator_add(const struct mqr_communicator_spec* spec,
                                     struct mqr_recorded_communicator** added) {
  return mqr_communicator_add_joined(spec, 0, 0, added);
}

enum mqr_result mqr_communicator_add_joined(const struct mqr_communicator_spec* spec,
                                            uint64_t joint, uint64_t path,
                                            struct mqr_recorded_communicator** added) {
  *added = NULL;
  if (spec->size < 1 || spec->size > MQR_MAX_GROUP || spec->local_rank < 0 ||
      spec->local_rank >= spec->size || spec->remote_size < 0 || spec->remote_size > MQR_MAX_GROUP)
    return MQR_BAD_VALUE;
  if (!mqr_lock_ready())
    return MQR_BAD_STATE;
  const int full = mqbridge_recorder.communicators.count == MQR_MAX_COMMUNICATORS;
  struct mqr_recorded_communicator* const made = full ? NULL : new_communicator(spec);
  if (made != NULL) {
    made->shared.joint = joint;
    made->shared.path = path;
    mqr_begin_update();
    mqr_list_append(&mqr_core.communicators, &made->shared.node);
    mqr_end_update();
  } else {
    mqr_mark_gap();
  }
  mqr_unlock();
  *added = made;
  return made != NULL ? MQR_OK : MQR_NO_MEMORY;
}

enum mqr_result mqr_communicator_rename(struct mqr_recorded_communicator* communicator,
                                        const char* name) {
  char* const after = new_name(name);
  if (after == NULL)
    return MQR_NO_MEMORY;
  if (!mqr_lock_ready()) {
    free(after);
    return MQR_BAD_STATE;
  }
  void* const before = mqr_address_in(&communicator->shared.name);
  mqr_begin_update();
  mqr_publish(&communicator->shared.name, after);
  mqr_publish_word(&communicator->shared.flags, communicator->shared.flags | MQR_NAMED);
  mqr_end_update();
  mqr_unlock();
  free(before);
  return MQR_OK;
}

struct mqr_recorded_communicator*
mqr_communicator_settle(struct mqr_recorded_communicator* communicator) {
  const struct mqr_communicator* const shared = &communicator->shared;
  if ((shared->flags & MQR_FREED) == 0 || shared->queues[MQR_SEND].count != 0 ||
      shared->queues[MQR_RECEIVE].count != 0 || shared->queues[MQR_UNEXPECTED].count != 0 ||
      shared->under_way.count != 0)
    return NULL;
  mqr_list_remove(&mqr_core.communicators, &communicator->shared.node);
  mqr_unqueued_forget(communicator);
  mqr_errhandlers_settle();
  return communicator;
}

void mqr_communicator_free(struct mqr_recorded_communicator* communicator) {
  if (communicator == NULL || !mqr_lock_ready())
    return;
  mqr_thread_forget(communicator);
  mqr_begin_update();
  mqr_publish_word(&communicator->shared.flags, communicator->shared.flags | MQR_FREED);
  struct mqr_recorded_communicator* const gone = mqr_communicator_settle(communicator);
  mqr_end_update();
  mqr_communicator_release(gone);
  mqr_unlock();
}

uint32_t mqr_communicator_enter_collective(struct mqr_recorded_communicator* communicator) {
  mqr_lock();
  const uint32_t before = communicator->shared.collectives;
  mqr_publish_word(&communicator->shared.collectives, before + 1);
  mqr_unlock();
  return before;
}

void mqr_communicator_refuse_collective(struct mqr_recorded_communicator* communicator) {
  mqr_lock();
  mqr_publish_word(&communicator->shared.collectives, communicator->shared.collectives - 1);
  mqr_unlock();
}

uint64_t mqr_communicator_id(const struct mqr_recorded_communicator* communicator) {
  return communicator->shared.id;
}

int32_t mqr_communicator_world_rank(const struct mqr_recorded_communicator* communicator,
                                    int32_t peer) {
  const struct mqr_communicator* const shared = &communicator->shared;
  const int inter = shared->node.kind == MQR_INTER;
  const int32_t* const group = mqr_address_in(inter ? &shared->remote_group : &shared->group);
  const int32_t size = inter ? shared->remote_size : shared->size;
  return group != NULL && peer >= 0 && peer < size ? group[peer] : MQR_WORLD_RANK_UNKNOWN;
}
