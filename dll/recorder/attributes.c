/* The recorder's facts about a communicator's handle: topology, attributes, error handler. */

#include "dll/recorder/core.h"

#include <stdlib.h>
#include <string.h>

static void know(struct mqr_recorded_communicator* communicator, uint32_t known) {
  struct mqr_communicator* const shared = &communicator->shared;
  mqr_publish_word(&shared->known, shared->known | known);
}

void mqr_communicator_set_handle(struct mqr_recorded_communicator* communicator, const void* handle,
                                 int32_t fortran, uint32_t known) {
  if (!mqr_lock_ready())
    return;
  mqr_begin_update();
  mqr_publish(&communicator->shared.handle, handle);
  communicator->shared.fortran = fortran;
  know(communicator, known);
  mqr_end_update();
  mqr_unlock();
}

void mqr_communicator_set_errhandler(struct mqr_recorded_communicator* communicator,
                                     const void* errhandler) {
  if (!mqr_lock_ready())
    return;
  mqr_begin_update();
  mqr_publish(&communicator->shared.errhandler, errhandler);
  know(communicator, MQR_KNOWN_ERRHANDLER);
  mqr_errhandlers_settle();
  mqr_end_update();
  mqr_unlock();
}

/* Replaces a table as a whole. The caller holds the lock. */
static void replace(struct mqr_slot* slot, void* after) {
  void* const before = mqr_address_in(slot);
  mqr_begin_update();
  mqr_publish(slot, after);
  mqr_end_update();
  free(before);
}

void mqr_communicator_set_topology(struct mqr_recorded_communicator* communicator,
                                   struct mqr_topology* topology) {
  if (!mqr_lock_ready()) {
    free(topology);
    return;
  }
  replace(&communicator->shared.topology, topology);
  know(communicator, MQR_KNOWN_TOPOLOGY);
  mqr_unlock();
}

static struct mqr_attribute* entries_of(struct mqr_attributes* table) {
  return (struct mqr_attribute*)(void*)(table + 1);
}

/* A copy of the table without the keyval, with room for one more entry. NULL: no memory. */
static struct mqr_attributes* copy_without(const struct mqr_slot* slot, int32_t keyval) {
  struct mqr_attributes* const before = mqr_address_in(slot);
  const uint32_t count = before != NULL ? before->count : 0;
  struct mqr_attributes* const after =
      malloc(sizeof *after + (count + 1) * sizeof(struct mqr_attribute));
  if (after == NULL)
    return NULL;
  *after = (struct mqr_attributes){MQR_MAGIC_ATTRIBUTES, 0};
  for (uint32_t i = 0; i < count; ++i)
    if (entries_of(before)[i].keyval != keyval)
      entries_of(after)[after->count++] = entries_of(before)[i];
  return after;
}

/* The table may lack attributes from here on; the ones that are there are still true. */
static void lose(struct mqr_recorded_communicator* communicator) {
  struct mqr_communicator* const shared = &communicator->shared;
  mqr_publish_word(&shared->known, shared->known & ~(uint32_t)MQR_KNOWN_ATTRIBUTES);
}

/* If `added` is NULL, the keyval is deleted. Without memory the old table is not believed any more.
 */
static void change(struct mqr_recorded_communicator* communicator, int32_t keyval,
                   const struct mqr_attribute* added) {
  if (!mqr_lock_ready())
    return;
  struct mqr_slot* const slot = &communicator->shared.attributes;
  struct mqr_attributes* after = copy_without(slot, keyval);
  if (after == NULL || (added != NULL && after->count == MQR_MAX_ATTRIBUTES))
    lose(communicator);
  else if (added != NULL)
    entries_of(after)[after->count++] = *added;
  if (after != NULL && after->count == 0) {
    free(after);
    after = NULL;
  }
  replace(slot, after);
  mqr_unlock();
}

void mqr_communicator_set_attribute(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_attribute* attribute) {
  change(communicator, attribute->keyval, attribute);
}

void mqr_communicator_delete_attribute(struct mqr_recorded_communicator* communicator,
                                       int32_t keyval) {
  change(communicator, keyval, NULL);
}

void mqr_communicator_lose_attributes(struct mqr_recorded_communicator* communicator) {
  if (!mqr_lock_ready())
    return;
  struct mqr_slot* const slot = &communicator->shared.attributes;
  struct mqr_attributes* const after = copy_without(slot, INT32_MIN);
  uint32_t kept = 0;
  for (uint32_t i = 0; after != NULL && i < after->count; ++i)
    if (entries_of(after)[i].predefined != MQR_OWN_KEYVAL)
      entries_of(after)[kept++] = entries_of(after)[i];
  if (after != NULL)
    after->count = kept;
  lose(communicator);
  replace(slot, after);
  mqr_unlock();
}

static int has(const struct mqr_slot* slot, int32_t keyval) {
  struct mqr_attributes* const table = mqr_address_in(slot);
  for (uint32_t i = 0; table != NULL && i < table->count; ++i)
    if (entries_of(table)[i].keyval == keyval)
      return 1;
  return 0;
}

int mqr_attribute_is_set(int32_t keyval) {
  int found = 0;
  if (!mqr_lock_ready())
    return 0;
  for (struct mqr_node* node = mqr_address_in(&mqbridge_recorder.communicators.first);
       node != NULL && !found; node = mqr_next(node))
    found = has(&mqr_communicator_at(node)->shared.attributes, keyval);
  mqr_unlock();
  return found;
}

void mqr_communicator_know_attributes(struct mqr_recorded_communicator* communicator) {
  if (!mqr_lock_ready())
    return;
  know(communicator, MQR_KNOWN_ATTRIBUTES);
  mqr_unlock();
}
