#include "dll/recorder/channels.h"
#include "dll/recorder/core.h"

#include <stdlib.h>
#include <string.h>

/* Whether there is a message: the peer is neither MPI_PROC_NULL nor a rank that does not exist,
 * which MPI will refuse. */
static int is_a_message(const struct mqr_recorded_communicator* communicator, int32_t peer) {
  const struct mqr_communicator* const shared = &communicator->shared;
  return peer >= 0 && peer < (shared->node.kind == MQR_INTER ? shared->remote_size : shared->size);
}

/* What the program was told of one run of a persistent operation. */
enum { told = MQR_CANCELLED | MQR_TOLD_COMPLETE };

/* These functions count and unlink: the caller holds the lock, and the generation is odd. */

static void count_sent(struct mqr_recorded_communicator* communicator,
                       struct mqr_operation* shared) {
  if (!is_a_message(communicator, shared->peer))
    return;
  struct mqr_channel* const peer =
      mqr_channel_at(&communicator->peers, shared->peer, 0, MQR_MAX_PEERS);
  struct mqr_channel* const channel =
      mqr_channel_at(&communicator->shared.channels, shared->peer, shared->tag, MQR_MAX_CHANNELS);
  if (peer == NULL || channel == NULL) {
    mqr_mark_gap();
    return;
  }
  shared->number = peer->sent++;
  mqr_publish_word(&channel->sent, channel->sent + 1);
}

/* `change` is 1, or -1 modulo 2^32. */
static void change_count(struct mqr_recorded_communicator* communicator, int32_t peer, int32_t tag,
                         size_t counter, uint32_t change) {
  if (!is_a_message(communicator, peer))
    return;
  struct mqr_channel* const channel =
      mqr_channel_at(&communicator->shared.channels, peer, tag, MQR_MAX_CHANNELS);
  if (channel == NULL) {
    mqr_mark_gap();
    return;
  }
  uint32_t* const value = (uint32_t*)(void*)((char*)channel + counter);
  mqr_publish_word(value, *value + change);
}

/* Whether a send to this peer went there later than the cancelled one. */
static int is_later(const struct mqr_operation* cancelled, int32_t peer, uint32_t number) {
  return peer == cancelled->peer && (int32_t)(number - cancelled->number) > 0;
}

/* Takes back a send that was cancelled: later sends to its peer have one less before them. */
static void take_back(struct mqr_recorded_communicator* communicator,
                      const struct mqr_operation* cancelled) {
  if (!is_a_message(communicator, cancelled->peer))
    return;
  change_count(communicator, cancelled->peer, cancelled->tag, offsetof(struct mqr_channel, sent),
               UINT32_MAX);
  struct mqr_channel* const peer =
      mqr_channel_at(&communicator->peers, cancelled->peer, 0, MQR_MAX_PEERS);
  if (peer != NULL)
    --peer->sent;
  for (struct mqr_node* node = mqr_address_in(&communicator->shared.queues[MQR_SEND].first);
       node != NULL; node = mqr_next(node)) {
    struct mqr_operation* const send = (struct mqr_operation*)(void*)node;
    if ((send->flags & MQR_INACTIVE) == 0 && is_later(cancelled, send->peer, send->number))
      mqr_publish_word(&send->number, send->number - 1);
  }
  struct mqr_returned* const ring = mqr_address_in(&communicator->shared.returned_sends);
  for (size_t i = 0; ring != NULL && i < MQR_RETURNED; ++i)
    if (is_later(cancelled, ring[i].peer, ring[i].number))
      mqr_publish_word(&ring[i].number, ring[i].number - 1);
}

static struct mqr_members* queue_of(struct mqr_recorded_operation* operation) {
  return &operation->communicator->queues[operation->shared.node.kind];
}

/* Takes the operation out of its queue and out of the table of requests. The caller gives the node
 * back afterwards. */
static struct mqr_recorded_communicator*
unlink_operation(struct mqr_recorded_operation* operation) {
  mqr_list_remove(queue_of(operation), &operation->shared.node);
  mqr_requests_remove(&mqr_core.operation_requests, operation);
  return mqr_communicator_settle(operation->communicator);
}

/* The program has done with the operation: a persistent one stays, and is inactive. Ends the
 * update, and gives back the lock. */
static void end_operation(struct mqr_recorded_operation* operation, int stays) {
  if (stays) {
    struct mqr_operation* const shared = &operation->shared;
    mqr_publish_word(&shared->flags, (shared->flags & ~(uint32_t)told) | MQR_INACTIVE);
    mqr_publish_word(&shared->status, MQR_COMPLETE);
    mqr_end_update();
  } else {
    struct mqr_recorded_communicator* const gone = unlink_operation(operation);
    mqr_end_update();
    mqr_pool_give(&mqr_core.operations, operation);
    mqr_communicator_release(gone);
  }
  mqr_unlock();
}

/* The functions' names by number: texts that are copied as a block. */
static struct mqr_word calls[MQR_FUNCTION_NUMBERS];

void mqr_operations_open(void) {
  for (uint32_t i = 0; i < MQR_FUNCTION_NUMBERS; ++i)
    mqr_copy_text(calls[i].text, sizeof calls[i].text, mqr_function_name(i));
}

static void fill_texts(struct mqr_operation* shared, const struct mqr_operation_spec* spec) {
  static const struct mqr_word unknown;
  memcpy(shared->call, &calls[spec->function < MQR_FUNCTION_NUMBERS ? spec->function : 0],
         sizeof shared->call);
  memcpy(shared->datatype, spec->datatype != NULL ? spec->datatype : &unknown,
         sizeof shared->datatype);
  shared->datatype[sizeof shared->datatype - 1] = '\0';
}

/* Sets each field by itself: clearing the whole first would cost as much again. */
static void fill_operation(struct mqr_recorded_operation* made,
                           struct mqr_recorded_communicator* communicator,
                           const struct mqr_operation_spec* spec) {
  struct mqr_operation* const shared = &made->shared;
  const int inactive = (spec->flags & MQR_INACTIVE) != 0;
  const int sends = spec->queue == MQR_SEND;
  made->communicator = communicator;
  shared->node = (struct mqr_node){.magic = MQR_MAGIC_OPERATION, .kind = spec->queue};
  shared->status = inactive ? MQR_COMPLETE : MQR_PENDING;
  shared->flags = spec->flags | (inactive ? MQR_PERSISTENT : 0U) |
                  (uint32_t)spec->function << MQR_FUNCTION_SHIFT;
  shared->peer = spec->peer;
  shared->peer_world = mqr_communicator_world_rank(communicator, spec->peer);
  shared->tag = spec->tag;
  shared->actual_peer = sends ? shared->peer : 0;
  shared->actual_peer_world = sends ? shared->peer_world : 0;
  shared->actual_tag = sends ? shared->tag : 0;
  shared->length = spec->length;
  shared->actual_length = sends ? shared->length : 0;
  shared->buffer = (struct mqr_slot){.word = (uintptr_t)spec->buffer};
  shared->request = (struct mqr_slot){.word = (uintptr_t)spec->request};
  shared->count = spec->count;
  fill_texts(shared, spec);
  shared->site = (struct mqr_slot){.word = (uintptr_t)spec->site};
  shared->number = sends ? 0 : communicator->posted++;
  shared->wait = 0;
  shared->fortran = 0;
  shared->own = MQR_NOT_THERE;
}

/* Adds the operation to its queue: from here on it is pending, unless it is inactive. */
static void link_operation(struct mqr_recorded_operation* operation) {
  struct mqr_operation* const shared = &operation->shared;
  if (shared->node.kind == MQR_SEND && (shared->flags & MQR_INACTIVE) == 0)
    count_sent(operation->communicator, shared);
  mqr_list_append(queue_of(operation), &shared->node);
}

enum mqr_result mqr_operation_begin(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_operation_spec* spec,
                                    struct mqr_recorded_operation** begun) {
  *begun = NULL;
  if ((unsigned)spec->queue >= MQR_QUEUES)
    return MQR_BAD_VALUE;
  if (!mqr_lock_ready())
    return MQR_BAD_STATE;
  enum mqr_result result = MQR_OFF_NOW;
  if ((mqbridge_recorder.flags & MQR_OFF) == 0) {
    *begun = mqr_pool_take(&mqr_core.operations);
    result = *begun != NULL ? MQR_OK : MQR_NO_MEMORY;
  }
  if (*begun != NULL) {
    fill_operation(*begun, communicator, spec);
    mqr_begin_update();
    link_operation(*begun);
    mqr_end_update();
  } else {
    mqr_mark_gap();
  }
  mqr_unlock();
  return result;
}

/* A persistent operation that is started is posted anew: it goes to the end of its queue. For an
 * instant it is in no queue; an inactive one is not pending anyway. */
void mqr_operation_start(struct mqr_recorded_operation* operation) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  struct mqr_operation* const shared = &operation->shared;
  mqr_begin_update();
  mqr_list_remove(queue_of(operation), &shared->node);
  shared->status = MQR_PENDING;
  shared->flags &= ~(uint32_t)(MQR_INACTIVE | told);
  if (shared->node.kind != MQR_SEND)
    shared->number = operation->communicator->posted++;
  link_operation(operation);
  mqr_end_update();
  mqr_unlock();
}

enum mqr_result mqr_operation_match(struct mqr_recorded_operation* operation, int32_t peer,
                                    int32_t tag, uint64_t length) {
  if (operation == NULL || !mqr_lock_ready())
    return MQR_BAD_STATE;
  struct mqr_operation* const shared = &operation->shared;
  const int matches = shared->node.kind == MQR_RECEIVE && shared->status == MQR_PENDING;
  if (matches) {
    mqr_begin_update();
    shared->actual_peer = peer;
    shared->actual_peer_world = mqr_communicator_world_rank(operation->communicator, peer);
    shared->actual_tag = tag;
    shared->actual_length = length;
    mqr_publish_word(&shared->status, MQR_MATCHED); /* readers believe the rest from here on */
    mqr_end_update();
  }
  mqr_unlock();
  return matches ? MQR_OK : MQR_BAD_STATE;
}

enum mqr_result mqr_operation_complete(struct mqr_recorded_operation* operation) {
  if (operation == NULL || !mqr_lock_ready())
    return MQR_BAD_STATE;
  struct mqr_operation* const shared = &operation->shared;
  const int completes = shared->node.kind == MQR_RECEIVE ? shared->status == MQR_MATCHED
                                                         : shared->node.kind == MQR_SEND;
  if (completes) {
    mqr_begin_update();
    mqr_publish_word(&shared->status, MQR_COMPLETE);
    mqr_end_update();
  }
  mqr_unlock();
  return completes ? MQR_OK : MQR_BAD_STATE;
}

void mqr_operation_remove(struct mqr_recorded_operation* operation) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  mqr_begin_update();
  end_operation(operation, 0);
}

static struct mqr_returned* new_ring(void) {
  struct mqr_returned* const ring = malloc(MQR_RETURNED * sizeof *ring);
  if (ring != NULL)
    for (int i = 0; i < MQR_RETURNED; ++i)
      ring[i] = (struct mqr_returned){.peer = MQR_NO_PEER};
  return ring;
}

/* Adds a send to the ring of sends that have returned, which the first send makes. 0: no memory. */
static int add_returned(struct mqr_communicator* communicator, const struct mqr_operation* send) {
  struct mqr_returned* ring = mqr_address_in(&communicator->returned_sends);
  if (ring == NULL) {
    ring = new_ring();
    if (ring == NULL)
      return 0;
    mqr_publish(&communicator->returned_sends, ring);
  }
  struct mqr_returned* const entry = &ring[communicator->returned % MQR_RETURNED];
  entry->peer = send->peer;
  entry->tag = send->tag;
  entry->length = send->length;
  entry->number = send->number;
  entry->function = send->flags >> MQR_FUNCTION_SHIFT;
  entry->site = send->site;
  mqr_publish_word(&communicator->returned, communicator->returned + 1); /* believed from here on */
  return 1;
}

/* The send goes into the ring first, then out of the queue: so at no time it is in neither. */
void mqr_send_end(struct mqr_recorded_operation* operation, int cancelled) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  const struct mqr_operation* const shared = &operation->shared;
  struct mqr_recorded_communicator* const communicator = operation->communicator;
  mqr_begin_update();
  if (cancelled) {
    take_back(communicator, shared);
  } else if (is_a_message(communicator, shared->peer)) {
    if (!add_returned(&communicator->shared, shared))
      mqr_mark_gap();
  }
  end_operation(operation, (shared->flags & MQR_PERSISTENT) != 0);
}

/* A message that MPI_Mprobe took was counted when it was taken, and a probe takes none. */
void mqr_receive_end(struct mqr_recorded_operation* operation, int32_t peer, int32_t tag,
                     int cancelled) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  const struct mqr_operation* const shared = &operation->shared;
  mqr_begin_update();
  if (!cancelled && shared->node.kind == MQR_RECEIVE &&
      (shared->flags & (MQR_TAKEN | MQR_PROBE)) == 0)
    change_count(operation->communicator, peer, tag, offsetof(struct mqr_channel, received), 1);
  end_operation(operation, (shared->flags & MQR_PERSISTENT) != 0);
}

void mqr_count_received(struct mqr_recorded_communicator* communicator, int32_t peer, int32_t tag) {
  if (!mqr_lock_ready())
    return;
  if ((mqbridge_recorder.flags & MQR_OFF) != 0) {
    mqr_mark_gap();
  } else {
    mqr_begin_update();
    change_count(communicator, peer, tag, offsetof(struct mqr_channel, received), 1);
    mqr_end_update();
  }
  mqr_unlock();
}

void mqr_request_add(const void* request, struct mqr_recorded_operation* operation) {
  if (operation == NULL || request == NULL || !mqr_lock_ready())
    return;
  struct mqr_requests* const requests = &mqr_core.operation_requests;
  struct mqr_slot* const slot = &operation->shared.request;
  if (operation->shared.own == MQR_TAKEN_OUT && slot->word == (uintptr_t)request) {
    mqr_requests_put_back(requests, operation);
  } else {
    mqr_requests_remove(requests, operation);
    mqr_publish(slot, request);
    if (!mqr_requests_add(requests, operation))
      mqr_mark_gap();
  }
  mqr_unlock();
}

struct mqr_recorded_operation* mqr_request_find(const void* request) {
  return mqr_requests_look_up(&mqr_core.operation_requests, request, 0);
}

struct mqr_recorded_operation* mqr_request_take(const void* request) {
  return mqr_requests_look_up(&mqr_core.operation_requests, request, 1);
}

/* The oldest receive is the likeliest to have its message. */
static void forget_oldest_freed(void) {
  struct mqr_recorded_operation* const oldest = mqr_core.first_freed;
  mqr_core.first_freed = oldest->chain;
  --mqr_core.freed;
  mqr_mark_gap();
  struct mqr_recorded_communicator* const gone = unlink_operation(oldest);
  mqr_pool_give(&mqr_core.operations, oldest);
  mqr_communicator_release(gone);
}

void mqr_operation_free_request(struct mqr_recorded_operation* operation) {
  if (operation == NULL || !mqr_lock_ready())
    return;
  mqr_requests_remove(&mqr_core.operation_requests, operation);
  mqr_begin_update();
  mqr_publish_word(&operation->shared.flags, operation->shared.flags | MQR_REQUEST_FREED);
  operation->chain = NULL;
  if (mqr_core.freed != 0)
    mqr_core.last_freed->chain = operation;
  else
    mqr_core.first_freed = operation;
  mqr_core.last_freed = operation;
  if (++mqr_core.freed > MQR_MAX_FREED)
    forget_oldest_freed();
  mqr_end_update();
  mqr_unlock();
}

enum mqr_queue mqr_operation_queue(const struct mqr_recorded_operation* operation) {
  return (enum mqr_queue)operation->shared.node.kind;
}

int mqr_operation_is_active(const struct mqr_recorded_operation* operation) {
  return (operation->shared.flags & MQR_INACTIVE) == 0;
}

int mqr_operation_is_persistent(const struct mqr_recorded_operation* operation) {
  return (operation->shared.flags & MQR_PERSISTENT) != 0;
}
