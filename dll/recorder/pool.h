#ifndef MQBRIDGE_DLL_RECORDER_POOL_H
#define MQBRIDGE_DLL_RECORDER_POOL_H

/* Slots of one size, in arenas, in an order that can be chosen. Free slots are chained through
 * their first words. Not for several threads. */

#include "dll/recorder/recorder.h"

struct mqr_arena;

struct mqr_pool {
  size_t slot_bytes;
  size_t arena_bytes;
  int shuffled;
  uint64_t random;          /* state of the generator */
  struct mqr_arena* arenas; /* the last one first; it alone may have slots that were never taken */
  size_t untouched;         /* number of these slots, at its end */
  void** order; /* of a shuffled arena: its untouched slots, the next one last; else NULL */
  void* free;   /* the next slot to be taken; NULL: an untouched one */
  size_t taken; /* slots; never more than `most` */
  size_t most;
};

void mqr_pool_open(struct mqr_pool* pool, size_t slot_bytes, size_t most,
                   const struct mqr_placement* placement);

/* The slot's contents are undefined. NULL: no memory, or `most` slots are taken. */
void* mqr_pool_take(struct mqr_pool* pool);
void mqr_pool_give(struct mqr_pool* pool, void* slot);

/* Gives all slots back at once. */
void mqr_pool_close(struct mqr_pool* pool);

#endif
