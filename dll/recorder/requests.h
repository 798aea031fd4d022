#ifndef MQBRIDGE_DLL_RECORDER_REQUESTS_H
#define MQBRIDGE_DLL_RECORDER_REQUESTS_H

/* Nodes by the request that they hold: a hash table that is chained through them. */

#include <stddef.h>
#include <stdint.h>

struct mqr_requests {
  void** buckets;
  void** taken;        /* the same of the nodes that are taken out */
  size_t bucket_count; /* a power of two, or 0 */
  size_t count;
  size_t key;   /* offset of a node's key, a uintptr_t */
  size_t chain; /* offset of its pointer to the next in its bucket */
  size_t place; /* offset of a uint32_t, enum mqr_request_place */
};

/* A node that was never added has MQR_NOT_THERE, which is 0. */
enum mqr_request_place {
  MQR_NOT_THERE,
  MQR_THERE,
  MQR_TAKEN_OUT /* for a while: it is there, and found by mqr_requests_find_taken() alone */
};

/* Adds a node in front of others with the same key. 0: no memory. */
int mqr_requests_add(struct mqr_requests* requests, void* node);
/* The node that was added last with that key, and is not taken out; or NULL. */
void* mqr_requests_find(const struct mqr_requests* requests, uintptr_t key);
/* The one among the nodes that are taken out that was taken first; or NULL. */
void* mqr_requests_find_taken(const struct mqr_requests* requests, uintptr_t key);
/* As mqr_requests_find(), and takes the node out. */
void* mqr_requests_take(const struct mqr_requests* requests, uintptr_t key);
/* Does nothing if the node was not taken out. */
void mqr_requests_put_back(const struct mqr_requests* requests, void* node);
/* Does nothing if the node is not there. */
void mqr_requests_remove(struct mqr_requests* requests, void* node);
void mqr_requests_close(struct mqr_requests* requests);

#endif
