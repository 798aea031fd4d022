#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { default_arena_bytes = 64 * 1024, slot_alignment = 8 };

struct mqr_arena {
  struct mqr_arena* next;
  void* memory;
  size_t bytes;
};

/* xorshift64*: the same numbers on every platform. */
static uint64_t next_random(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

void mqr_pool_open(struct mqr_pool* pool, size_t slot_bytes, size_t most,
                   const struct mqr_placement* placement) {
  static const struct mqr_placement usual = {0, default_arena_bytes, 0};
  if (placement == NULL)
    placement = &usual;
  memset(pool, 0, sizeof *pool);
  pool->slot_bytes = (slot_bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
  pool->arena_bytes = placement->arena_bytes != 0 ? placement->arena_bytes : default_arena_bytes;
  if (pool->arena_bytes < pool->slot_bytes)
    pool->arena_bytes = pool->slot_bytes;
  pool->shuffled = placement->shuffled;
  pool->most = most;
  /* The generator stays at 0 for ever. */
  pool->random = placement->seed != 0 ? placement->seed : UINT64_C(0x9e3779b97f4a7c15);
}

/* Shuffles the slots of a new arena (Fisher and Yates). The order is kept outside of the slots:
 * pages of the arena that no slot is taken from stay untouched. */
static int shuffle(struct mqr_pool* pool, char* memory, size_t count) {
  void** const slots = realloc(pool->order, count * sizeof *slots);
  if (slots == NULL)
    return 0;
  pool->order = slots;
  for (size_t i = 0; i < count; ++i)
    slots[i] = memory + i * pool->slot_bytes;
  for (size_t i = count; i > 1; --i) {
    const size_t other = (size_t)(next_random(&pool->random) % i);
    void* const slot = slots[i - 1];
    slots[i - 1] = slots[other];
    slots[other] = slot;
  }
  return 1;
}

static int add_arena(struct mqr_pool* pool) {
  const size_t slots = pool->arena_bytes / pool->slot_bytes;
  struct mqr_arena* const arena = malloc(sizeof *arena);
  void* const memory = mmap(NULL, pool->arena_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == NULL || memory == MAP_FAILED || (pool->shuffled && !shuffle(pool, memory, slots))) {
    free(arena);
    if (memory != MAP_FAILED)
      munmap(memory, pool->arena_bytes);
    return 0;
  }
  *arena = (struct mqr_arena){pool->arenas, memory, pool->arena_bytes};
  pool->arenas = arena;
  pool->untouched = slots;
  return 1;
}

void* mqr_pool_take(struct mqr_pool* pool) {
  if (pool->taken == pool->most || (pool->free == NULL && pool->untouched == 0 && !add_arena(pool)))
    return NULL;
  ++pool->taken;
  if (pool->free == NULL && pool->order != NULL)
    return pool->order[--pool->untouched];
  if (pool->free == NULL) {
    const size_t slots = pool->arena_bytes / pool->slot_bytes;
    return (char*)pool->arenas->memory + (slots - pool->untouched--) * pool->slot_bytes;
  }
  void* const slot = pool->free;
  pool->free = *(void**)slot;
  return slot;
}

void mqr_pool_give(struct mqr_pool* pool, void* slot) {
  *(void**)slot = pool->free;
  pool->free = slot;
  --pool->taken;
}

void mqr_pool_close(struct mqr_pool* pool) {
  while (pool->arenas != NULL) {
    struct mqr_arena* const arena = pool->arenas;
    pool->arenas = arena->next;
    munmap(arena->memory, arena->bytes);
    free(arena);
  }
  free(pool->order);
  memset(pool, 0, sizeof *pool);
}
