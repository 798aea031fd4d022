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

static void** bucket_of(const struct mqr_requests* requests, uintptr_t key) {
  const uint64_t mixed = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
  return &requests->buckets[(size_t)(mixed >> 32) & (requests->bucket_count - 1)];
}

static void put(const struct mqr_requests* requests, void* node) {
  void** const bucket = bucket_of(requests, key_of(requests, node));
  *chain_of(requests, node) = *bucket;
  *bucket = node;
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

static int grow(struct mqr_requests* requests) {
  struct mqr_requests after = *requests;
  after.bucket_count = requests->bucket_count != 0 ? 2 * requests->bucket_count : first_buckets;
  after.buckets = calloc(after.bucket_count, sizeof *after.buckets);
  if (after.buckets == NULL)
    return 0;
  for (size_t i = 0; i < requests->bucket_count; ++i)
    put_all(&after, requests->buckets[i]);
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

static void* find(const struct mqr_requests* requests, uintptr_t key, uint32_t place) {
  if (requests->bucket_count == 0)
    return NULL;
  void* node = *bucket_of(requests, key);
  while (node != NULL && (key_of(requests, node) != key || *place_of(requests, node) != place))
    node = *chain_of(requests, node);
  return node;
}

void* mqr_requests_find(const struct mqr_requests* requests, uintptr_t key) {
  return find(requests, key, MQR_THERE);
}

void* mqr_requests_find_taken(const struct mqr_requests* requests, uintptr_t key) {
  return find(requests, key, MQR_TAKEN_OUT);
}

void mqr_requests_take(const struct mqr_requests* requests, void* node) {
  *place_of(requests, node) = MQR_TAKEN_OUT;
}

void mqr_requests_put_back(const struct mqr_requests* requests, void* node) {
  if (*place_of(requests, node) == MQR_TAKEN_OUT)
    *place_of(requests, node) = MQR_THERE;
}

void mqr_requests_remove(struct mqr_requests* requests, void* node) {
  if (*place_of(requests, node) == MQR_NOT_THERE)
    return;
  *place_of(requests, node) = MQR_NOT_THERE;
  void** link = bucket_of(requests, key_of(requests, node));
  while (*link != node)
    link = chain_of(requests, *link);
  *link = *chain_of(requests, node);
  --requests->count;
}

void mqr_requests_close(struct mqr_requests* requests) {
  free(requests->buckets);
  requests->buckets = NULL;
  requests->bucket_count = requests->count = 0;
}
