#include "dll/recorder/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { default_arena_bytes = 64 * 1024, slot_alignment = 16 };

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

void mqr_pool_open(struct mqr_pool* pool, size_t slot_bytes,
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
  /* The generator stays at 0 for ever. */
  pool->random = placement->seed != 0 ? placement->seed : UINT64_C(0x9e3779b97f4a7c15);
}

/* Fisher and Yates. */
static void shuffle(struct mqr_pool* pool, void** slots, size_t count) {
  for (size_t i = count; i > 1; --i) {
    const size_t other = (size_t)(next_random(&pool->random) % i);
    void* const slot = slots[i - 1];
    slots[i - 1] = slots[other];
    slots[other] = slot;
  }
}

/* Untouched pages of an arena cost nothing: the list of free slots is elsewhere. */
static int add_arena(struct mqr_pool* pool) {
  const size_t slots = pool->arena_bytes / pool->slot_bytes;
  struct mqr_arena* const arena = malloc(sizeof *arena);
  void** const free_slots = realloc(pool->free, (pool->slots + slots) * sizeof *free_slots);
  if (free_slots != NULL)
    pool->free = free_slots;
  void* const memory = mmap(NULL, pool->arena_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == NULL || free_slots == NULL || memory == MAP_FAILED) {
    free(arena);
    if (memory != MAP_FAILED)
      munmap(memory, pool->arena_bytes);
    return 0;
  }
  *arena = (struct mqr_arena){pool->arenas, memory, pool->arena_bytes};
  pool->arenas = arena;
  pool->slots += slots;
  for (size_t i = 0; i < slots; ++i) /* the first slot on top */
    free_slots[pool->free_count + i] = (char*)memory + (slots - 1 - i) * pool->slot_bytes;
  if (pool->shuffled)
    shuffle(pool, free_slots + pool->free_count, slots);
  pool->free_count += slots;
  return 1;
}

void* mqr_pool_take(struct mqr_pool* pool) {
  if (pool->free_count == 0 && !add_arena(pool))
    return NULL;
  void* const slot = pool->free[--pool->free_count];
  return memset(slot, 0, pool->slot_bytes);
}

void mqr_pool_give(struct mqr_pool* pool, void* slot) {
  pool->free[pool->free_count++] = slot;
}

void mqr_pool_close(struct mqr_pool* pool) {
  while (pool->arenas != NULL) {
    struct mqr_arena* const arena = pool->arenas;
    pool->arenas = arena->next;
    munmap(arena->memory, arena->bytes);
    free(arena);
  }
  free(pool->free);
  memset(pool, 0, sizeof *pool);
}
