#include "dll/recorder/requests.h"

#include <stdlib.h>

enum { first_buckets = 64, most_in_a_bucket = 4 };

static uintptr_t key_of(const struct mqr_requests* requests, const void* node) {
  return *(const uintptr_t*)(const void*)((const char*)node + requests->key);
}

static void** chain_of(const struct mqr_requests* requests, void* node) {
  return (void**)(void*)((char*)node + requests->chain);
}

static uint32_t* place_of(const struct mqr_requests* requests, void* node) {
  return (uint32_t*)(void*)((char*)node + requests->place);
}

static size_t bucket_of(const struct mqr_requests* requests, uintptr_t key) {
  const uint64_t mixed = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(mixed >> 32) & (requests->bucket_count - 1);
}

static void put(const struct mqr_requests* requests, void* node) {
  void** const bucket = &requests->buckets[bucket_of(requests, key_of(requests, node))];
  *chain_of(requests, node) = *bucket;
  *bucket = node;
}

/* A bucket of nodes that are taken out leads to its last node, and that one to the first. A call
 * that waits for many requests of one handle takes their nodes one after the other, and gives them
 * back in the same order: each is then the first. */
static void put_taken(const struct mqr_requests* requests, void* node) {
  void** const last = &requests->taken[bucket_of(requests, key_of(requests, node))];
  if (*last == NULL) {
    *chain_of(requests, node) = node;
  } else {
    *chain_of(requests, node) = *chain_of(requests, *last);
    *chain_of(requests, *last) = node;
  }
  *last = node;
}

static void unlink_taken(const struct mqr_requests* requests, void* node) {
  void** const last = &requests->taken[bucket_of(requests, key_of(requests, node))];
  void* before = *last;
  while (*chain_of(requests, before) != node)
    before = *chain_of(requests, before);
  if (before == node) {
    *last = NULL;
    return;
  }
  *chain_of(requests, before) = *chain_of(requests, node);
  if (*last == node)
    *last = before;
}

/* Puts a bucket back from its end, so that the nodes of one key keep their order. */
static void put_all(const struct mqr_requests* requests, void* node) {
  void* reversed = NULL;
  while (node != NULL) {
    void* const next = *chain_of(requests, node);
    *chain_of(requests, node) = reversed;
    reversed = node;
    node = next;
  }
  while (reversed != NULL) {
    void* const next = *chain_of(requests, reversed);
    put(requests, reversed);
    reversed = next;
  }
}

static void put_all_taken(const struct mqr_requests* requests, void* last) {
  if (last == NULL)
    return;
  void* node = *chain_of(requests, last);
  *chain_of(requests, last) = NULL;
  while (node != NULL) {
    void* const next = *chain_of(requests, node);
    put_taken(requests, node);
    node = next;
  }
}

/* Both tables are one piece of memory. */
static int grow(struct mqr_requests* requests) {
  struct mqr_requests after = *requests;
  after.bucket_count = requests->bucket_count != 0 ? 2 * requests->bucket_count : first_buckets;
  after.buckets = calloc(2 * after.bucket_count, sizeof *after.buckets);
  if (after.buckets == NULL)
    return 0;
  after.taken = after.buckets + after.bucket_count;
  for (size_t i = 0; i < requests->bucket_count; ++i) {
    put_all(&after, requests->buckets[i]);
    put_all_taken(&after, requests->taken[i]);
  }
  free(requests->buckets);
  *requests = after;
  return 1;
}

/* If there is no memory for more buckets, the buckets become fuller. */
int mqr_requests_add(struct mqr_requests* requests, void* node) {
  if (requests->count >= most_in_a_bucket * requests->bucket_count && !grow(requests) &&
      requests->bucket_count == 0)
    return 0;
  *place_of(requests, node) = MQR_THERE;
  put(requests, node);
  ++requests->count;
  return 1;
}

/* The link that leads to the first node with this key, or to no node. */
static void** find(const struct mqr_requests* requests, uintptr_t key) {
  void** link = &requests->buckets[bucket_of(requests, key)];
  while (*link != NULL && key_of(requests, *link) != key)
    link = chain_of(requests, *link);
  return link;
}

void* mqr_requests_find(const struct mqr_requests* requests, uintptr_t key) {
  return requests->bucket_count != 0 ? *find(requests, key) : NULL;
}

void* mqr_requests_find_taken(const struct mqr_requests* requests, uintptr_t key) {
  void* const last = requests->bucket_count != 0 ? requests->taken[bucket_of(requests, key)] : NULL;
  for (void* node = last; node != NULL;) {
    node = *chain_of(requests, node);
    if (key_of(requests, node) == key)
      return node;
    if (node == last)
      break;
  }
  return NULL;
}

void* mqr_requests_take(const struct mqr_requests* requests, uintptr_t key) {
  if (requests->bucket_count == 0)
    return NULL;
  void** const link = find(requests, key);
  void* const node = *link;
  if (node == NULL)
    return NULL;
  *link = *chain_of(requests, node);
  put_taken(requests, node);
  *place_of(requests, node) = MQR_TAKEN_OUT;
  return node;
}

void mqr_requests_put_back(const struct mqr_requests* requests, void* node) {
  if (*place_of(requests, node) != MQR_TAKEN_OUT)
    return;
  unlink_taken(requests, node);
  put(requests, node);
  *place_of(requests, node) = MQR_THERE;
}

void mqr_requests_remove(struct mqr_requests* requests, void* node) {
  const uint32_t place = *place_of(requests, node);
  if (place == MQR_NOT_THERE)
    return;
  *place_of(requests, node) = MQR_NOT_THERE;
  --requests->count;
  if (place == MQR_TAKEN_OUT) {
    unlink_taken(requests, node);
    return;
  }
  void** link = find(requests, key_of(requests, node));
  while (*link != node)
    link = chain_of(requests, *link);
  *link = *chain_of(requests, node);
}

void mqr_requests_close(struct mqr_requests* requests) {
  free(requests->buckets);
  requests->buckets = requests->taken = NULL;
  requests->bucket_count = requests->count = 0;
}
