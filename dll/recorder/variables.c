#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/variables.h"

#include "dll/recorder/core.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[MQR_PARTS] = {
    [MQR_PART_VARIABLES] = sizeof(struct mqr_variable),
    [MQR_PART_CATEGORIES] = sizeof(struct mqr_category),
    [MQR_PART_MEMBERS] = sizeof(uint32_t),
    [MQR_PART_ENUMERATIONS] = sizeof(struct mqr_enumeration),
    [MQR_PART_ITEMS] = sizeof(struct mqr_enumeration_item),
    [MQR_PART_TEXTS] = 1,
    [MQR_PART_VALUES] = 1,
};

void mqr_listing_open(struct mqr_listing* listing) {
  memset(listing, 0, sizeof *listing);
  for (int i = 0; i < MQR_PARTS; ++i)
    listing->parts[i].size = sizes[i];
  mqr_listing_add_text(listing, "");
}

static int make_room(struct mqr_growing* part, size_t bytes) {
  size_t capacity = part->capacity != 0 ? part->capacity : 4096;
  while (capacity < bytes)
    capacity *= 2;
  if (capacity == part->capacity)
    return 1;
  char* const grown = realloc(part->bytes, capacity);
  if (grown == NULL)
    return 0;
  part->bytes = grown;
  part->capacity = capacity;
  return 1;
}

uint32_t mqr_listing_add(struct mqr_listing* listing, enum mqr_part_number number,
                         const void* entries, uint32_t count) {
  struct mqr_growing* const part = &listing->parts[number];
  const size_t before = (size_t)part->count * part->size;
  const size_t added = (size_t)count * part->size;
  const size_t most = MQR_MAX_VARIABLES_SIZE - sizeof(struct mqr_variables) - 8 * MQR_PARTS;
  if (listing->failed || added > most - listing->bytes || !make_room(part, before + added)) {
    listing->failed = 1;
    return 0;
  }
  if (added > 0)
    memcpy(part->bytes + before, entries, added);
  const uint32_t first = part->count;
  part->count += count;
  listing->bytes += added;
  return first;
}

uint32_t mqr_listing_add_text(struct mqr_listing* listing, const char* text) {
  const struct mqr_growing* const texts = &listing->parts[MQR_PART_TEXTS];
  if (text == NULL || (text[0] == '\0' && texts->count > 0))
    return 0;
  return mqr_listing_add(listing, MQR_PART_TEXTS, text, (uint32_t)strlen(text) + 1);
}

static uint32_t aligned(uint32_t bytes) {
  return (bytes + 7) & ~UINT32_C(7);
}

struct mqr_variables* mqr_listing_finish(struct mqr_listing* listing, uint64_t when) {
  uint32_t size = sizeof(struct mqr_variables);
  for (int i = 0; i < MQR_PARTS; ++i)
    size += aligned(listing->parts[i].count * listing->parts[i].size);
  struct mqr_variables* const block = calloc(1, size);
  uint32_t at = sizeof *block;
  for (int i = 0; i < MQR_PARTS; ++i) {
    const struct mqr_growing* const part = &listing->parts[i];
    const uint32_t bytes = part->count * part->size;
    if (block != NULL) {
      block->parts[i] = (struct mqr_part){.at = at, .count = part->count, .size = part->size};
      if (bytes > 0)
        memcpy((char*)block + at, part->bytes, bytes);
    }
    at += aligned(bytes);
    free(part->bytes);
  }
  if (block != NULL) {
    block->magic = MQR_MAGIC_VARIABLES;
    block->size = size;
    block->flags = listing->flags | (listing->failed ? (uint32_t)MQR_VARIABLES_CUT : 0);
    block->listed = when;
  }
  memset(listing, 0, sizeof *listing);
  return block;
}

void mqr_variables_release(struct mqr_variables* block) {
  if (block != NULL)
    free(mqr_address_in(&block->samples));
  free(block);
}

void mqr_variables_publish(struct mqr_variables* block) {
  if (!mqr_lock_ready()) {
    mqr_variables_release(block);
    return;
  }
  struct mqr_variables* const before = mqr_address_in(&mqbridge_recorder.variables);
  mqr_publish(&mqbridge_recorder.variables, block);
  mqr_unlock();
  mqr_variables_release(before);
}

void mqr_samples_publish(struct mqr_samples* block) {
  if (!mqr_lock_ready()) {
    free(block);
    return;
  }
  struct mqr_variables* const variables = mqr_address_in(&mqbridge_recorder.variables);
  void* before = block;
  if (variables != NULL) {
    before = mqr_address_in(&variables->samples);
    mqr_publish(&variables->samples, block);
  }
  mqr_unlock();
  free(before);
}
