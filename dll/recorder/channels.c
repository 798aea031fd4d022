#include "dll/recorder/channels.h"

#include "dll/recorder/publish.h"

#include <stdlib.h>

enum { first_capacity = 16 };

static struct mqr_channel* entries_of(struct mqr_channels* channels) {
  return (struct mqr_channel*)(void*)(channels + 1);
}

/* Fibonacci hashing: neighbouring peers with one tag come to lie in different places. */
static uint32_t place_of(int32_t peer, int32_t tag) {
  const uint64_t key = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag;
  return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The channel's entry, or the empty one where it belongs: a table is never full. */
static struct mqr_channel* look_up(struct mqr_channels* channels, int32_t peer, int32_t tag) {
  struct mqr_channel* const entries = entries_of(channels);
  const uint32_t mask = channels->capacity - 1;
  for (uint32_t i = place_of(peer, tag) & mask;; i = (i + 1) & mask)
    if (entries[i].peer == MQR_NO_PEER || (entries[i].peer == peer && entries[i].tag == tag))
      return &entries[i];
}

static struct mqr_channels* new_channels(uint32_t capacity) {
  struct mqr_channels* const made =
      malloc(sizeof *made + (size_t)capacity * sizeof(struct mqr_channel));
  if (made == NULL)
    return NULL;
  *made = (struct mqr_channels){.magic = MQR_MAGIC_CHANNELS, .capacity = capacity};
  for (uint32_t i = 0; i < capacity; ++i)
    entries_of(made)[i] = (struct mqr_channel){.peer = MQR_NO_PEER};
  return made;
}

/* Replaces the table by one twice as large. Readers have the old one or the new one. */
static struct mqr_channels* grow(struct mqr_slot* table) {
  struct mqr_channels* const before = mqr_address_in(table);
  struct mqr_channels* const after =
      new_channels(before != NULL ? 2 * before->capacity : first_capacity);
  if (after == NULL)
    return NULL;
  if (before != NULL) {
    const struct mqr_channel* const entries = entries_of(before);
    for (uint32_t i = 0; i < before->capacity; ++i)
      if (entries[i].peer != MQR_NO_PEER)
        *look_up(after, entries[i].peer, entries[i].tag) = entries[i];
    after->count = before->count;
  }
  mqr_publish(table, after);
  free(before);
  return after;
}

static int is_full(const struct mqr_channels* channels, uint32_t sixteenths) {
  return channels->count >= channels->capacity / 16 * sixteenths;
}

struct mqr_channel* mqr_channel_at(struct mqr_slot* table, int32_t peer, int32_t tag,
                                   uint32_t most) {
  struct mqr_channels* channels = mqr_address_in(table);
  if (channels == NULL && (channels = grow(table)) == NULL)
    return NULL;
  struct mqr_channel* entry = look_up(channels, peer, tag);
  if (entry->peer == peer)
    return entry;
  if (is_full(channels, 12) && channels->capacity < most) {
    channels = grow(table);
    if (channels == NULL)
      return NULL;
    entry = look_up(channels, peer, tag);
  }
  if (is_full(channels, tag == MQR_OTHER_TAGS ? 15 : 12))
    return tag == MQR_OTHER_TAGS ? NULL : mqr_channel_at(table, peer, MQR_OTHER_TAGS, most);
  entry->tag = tag;
  mqr_publish_word((uint32_t*)&entry->peer, (uint32_t)peer); /* readers have it from here on */
  mqr_publish_word(&channels->count, channels->count + 1);
  return entry;
}
