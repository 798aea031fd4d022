#include "dll/recorder/recorder.h"

#include "dll/recorder/list.h"
#include "dll/recorder/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef MQR_DLL_NAME
#define MQR_DLL_NAME "libmqbridge-queues.so"
#endif

#define EXPORTED __attribute__((visibility("default"), used))

/* What a debugger looks for by name. The DLL's own name [MQD 5.1] is for other debuggers, which
 * search for it as dlopen() does; mqbridge takes the DLL beside itself. */
EXPORTED char MPIR_dll_name[] = MQR_DLL_NAME;
EXPORTED char mqbridge_recorder_version[] = "1.0";
static_assert(MQR_VERSION_MAJOR == 1 && MQR_VERSION_MINOR == 0, "mqbridge_recorder_version");

extern struct mqr_root mqbridge_recorder;
EXPORTED struct mqr_root mqbridge_recorder = {
    .magic = MQR_MAGIC_ROOT,
    .version_major = MQR_VERSION_MAJOR,
    .version_minor = MQR_VERSION_MINOR,
    .root_size = sizeof(struct mqr_root),
    .communicator_size = sizeof(struct mqr_communicator),
    .operation_size = sizeof(struct mqr_operation),
    .address_size = sizeof(void*),
};

/* `shared` is what readers read; the rest is ours. */
struct mqr_recorded_communicator {
  struct mqr_communicator shared;
  struct mqr_member member;
  struct mqr_members queues[MQR_QUEUES];
};

struct mqr_recorded_operation {
  struct mqr_operation shared;
  struct mqr_member member;
  struct mqr_recorded_communicator* communicator;
};

static struct mqr_root* const root = &mqbridge_recorder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mqr_members communicators = {&mqbridge_recorder.communicators, NULL, NULL};
static struct mqr_pool operations;

/* Between these two the generation is odd. */
static void begin_update(void) {
  __atomic_store_n(&root->generation, root->generation + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before any store of the update */
}

static void end_update(void) {
  mqr_publish_word(&root->generation, root->generation + 1);
}

static void unlock(void) {
  pthread_mutex_unlock(&lock);
}

/* Takes the lock where the recorder is ready. */
static int lock_ready(void) {
  pthread_mutex_lock(&lock);
  if (root->state == MQR_INITIALIZED)
    return 1;
  unlock();
  return 0;
}

static void* address_in(const struct mqr_slot* slot) {
  return (void*)slot->word;
}

/* Into fields of zeroes, which stay terminated. */
static void copy_text(char* to, size_t size, const char* text) {
  if (text != NULL)
    memcpy(to, text, strnlen(text, size - 1));
}

static char* new_name(const char* text) {
  char* const name = calloc(1, MQR_NAME_SIZE);
  if (name != NULL)
    copy_text(name, MQR_NAME_SIZE, text);
  return name;
}

/* An absent group is a success. Of no ranks: malloc(0) may be NULL without a lack of memory. */
static int copy_group(struct mqr_slot* slot, const int32_t* group, int32_t size) {
  if (group == NULL || size == 0)
    return 1;
  int32_t* const copy = malloc((size_t)size * sizeof *copy);
  if (copy == NULL)
    return 0;
  memcpy(copy, group, (size_t)size * sizeof *copy);
  slot->word = (uintptr_t)copy;
  return 1;
}

static void free_communicator(struct mqr_recorded_communicator* communicator) {
  free(address_in(&communicator->shared.name));
  free(address_in(&communicator->shared.group));
  free(address_in(&communicator->shared.remote_group));
  free(communicator);
}

enum mqr_result mqr_init(const struct mqr_placement* placement) {
  pthread_mutex_lock(&lock);
  const int ready = root->state == MQR_INITIALIZED;
  if (!ready) {
    mqr_pool_open(&operations, sizeof(struct mqr_recorded_operation), placement);
    begin_update();
    mqr_publish_word(&root->state, MQR_INITIALIZED);
    end_update();
  }
  unlock();
  return ready ? MQR_BAD_STATE : MQR_OK;
}

void mqr_finalize(void) {
  if (!lock_ready())
    return;
  struct mqr_member* member = communicators.first;
  begin_update();
  mqr_publish_word(&root->state, MQR_FINALIZED);
  mqr_publish(&root->communicators.first, NULL);
  mqr_publish_word(&root->communicators.count, 0);
  end_update();
  communicators.first = communicators.last = NULL;
  while (member != NULL) {
    struct mqr_member* const next = member->next;
    free_communicator((struct mqr_recorded_communicator*)member->node);
    member = next;
  }
  mqr_pool_close(&operations);
  unlock();
}

static struct mqr_recorded_communicator*
new_communicator(const struct mqr_communicator_spec* spec) {
  struct mqr_recorded_communicator* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  struct mqr_communicator* const shared = &made->shared;
  shared->node.magic = MQR_MAGIC_COMMUNICATOR;
  shared->node.kind = spec->remote_size > 0 ? MQR_INTER : MQR_INTRA;
  shared->id = spec->id;
  shared->name.word = (uintptr_t)new_name(spec->name);
  shared->local_rank = spec->local_rank;
  shared->size = spec->size;
  shared->remote_size = spec->remote_size;
  made->member.node = &shared->node;
  for (int i = 0; i < MQR_QUEUES; ++i)
    made->queues[i].shared = &shared->queues[i];
  if (shared->name.word != 0 && copy_group(&shared->group, spec->group, spec->size) &&
      copy_group(&shared->remote_group, spec->remote_group, spec->remote_size))
    return made;
  free_communicator(made);
  return NULL;
}

enum mqr_result mqr_communicator_add(const struct mqr_communicator_spec* spec,
                                     struct mqr_recorded_communicator** added) {
  *added = NULL;
  if (spec->size < 1 || spec->size > MQR_MAX_GROUP || spec->local_rank < 0 ||
      spec->local_rank >= spec->size || spec->remote_size < 0 || spec->remote_size > MQR_MAX_GROUP)
    return MQR_BAD_VALUE;
  struct mqr_recorded_communicator* const made = new_communicator(spec);
  if (made == NULL)
    return MQR_NO_MEMORY;
  if (!lock_ready()) {
    free_communicator(made);
    return MQR_BAD_STATE;
  }
  begin_update();
  mqr_list_append(&communicators, &made->member);
  end_update();
  unlock();
  *added = made;
  return MQR_OK;
}

enum mqr_result mqr_communicator_rename(struct mqr_recorded_communicator* communicator,
                                        const char* name) {
  char* const after = new_name(name);
  if (after == NULL)
    return MQR_NO_MEMORY;
  if (!lock_ready()) {
    free(after);
    return MQR_BAD_STATE;
  }
  void* const before = address_in(&communicator->shared.name);
  begin_update();
  mqr_publish(&communicator->shared.name, after);
  end_update();
  unlock();
  free(before);
  return MQR_OK;
}

enum mqr_result mqr_communicator_remove(struct mqr_recorded_communicator* communicator) {
  if (!lock_ready())
    return MQR_BAD_STATE;
  for (int i = 0; i < MQR_QUEUES; ++i) {
    if (communicator->queues[i].first != NULL) {
      unlock();
      return MQR_IN_USE;
    }
  }
  begin_update();
  mqr_list_remove(&communicators, &communicator->member);
  end_update();
  unlock();
  free_communicator(communicator);
  return MQR_OK;
}

/* A peer's rank in MPI_COMM_WORLD, as far as the communicator's group tells. */
static int32_t world_rank(const struct mqr_communicator* communicator, int32_t peer) {
  const int inter = communicator->node.kind == MQR_INTER;
  const int32_t* const group =
      address_in(inter ? &communicator->remote_group : &communicator->group);
  const int32_t size = inter ? communicator->remote_size : communicator->size;
  return group != NULL && peer >= 0 && peer < size ? group[peer] : MQR_WORLD_RANK_UNKNOWN;
}

static void fill_operation(struct mqr_recorded_operation* made,
                           struct mqr_recorded_communicator* communicator,
                           const struct mqr_operation_spec* spec) {
  struct mqr_operation* const shared = &made->shared;
  shared->node.magic = MQR_MAGIC_OPERATION;
  shared->node.kind = spec->queue;
  shared->status = MQR_PENDING;
  shared->flags =
      (spec->any_tag ? MQR_ANY_TAG : 0U) | (spec->system_buffer ? MQR_SYSTEM_BUFFER : 0U);
  shared->peer = spec->peer;
  shared->peer_world = world_rank(&communicator->shared, spec->peer);
  shared->tag = spec->tag;
  shared->length = spec->length;
  if (spec->queue == MQR_SEND) {
    shared->actual_peer = shared->peer;
    shared->actual_peer_world = shared->peer_world;
    shared->actual_tag = shared->tag;
    shared->actual_length = shared->length;
  }
  shared->buffer.word = (uintptr_t)spec->buffer;
  shared->request.word = (uintptr_t)spec->request;
  shared->count = spec->count;
  copy_text(shared->call, sizeof shared->call, spec->call);
  copy_text(shared->datatype, sizeof shared->datatype, spec->datatype);
  made->member.node = &shared->node;
  made->communicator = communicator;
}

enum mqr_result mqr_operation_begin(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_operation_spec* spec,
                                    struct mqr_recorded_operation** begun) {
  *begun = NULL;
  if ((unsigned)spec->queue >= MQR_QUEUES)
    return MQR_BAD_VALUE;
  if (!lock_ready())
    return MQR_BAD_STATE;
  struct mqr_recorded_operation* const made = mqr_pool_take(&operations);
  if (made != NULL) {
    fill_operation(made, communicator, spec);
    begin_update();
    mqr_list_append(&communicator->queues[spec->queue], &made->member);
    end_update();
  }
  unlock();
  *begun = made;
  return made != NULL ? MQR_OK : MQR_NO_MEMORY;
}

enum mqr_result mqr_operation_match(struct mqr_recorded_operation* operation, int32_t peer,
                                    int32_t tag, uint64_t length) {
  if (!lock_ready())
    return MQR_BAD_STATE;
  struct mqr_operation* const shared = &operation->shared;
  const int matches = shared->node.kind == MQR_RECEIVE && shared->status == MQR_PENDING;
  if (matches) {
    begin_update();
    shared->actual_peer = peer;
    shared->actual_peer_world = world_rank(&operation->communicator->shared, peer);
    shared->actual_tag = tag;
    shared->actual_length = length;
    mqr_publish_word(&shared->status, MQR_MATCHED); /* readers believe the rest from here on */
    end_update();
  }
  unlock();
  return matches ? MQR_OK : MQR_BAD_STATE;
}

enum mqr_result mqr_operation_complete(struct mqr_recorded_operation* operation) {
  if (!lock_ready())
    return MQR_BAD_STATE;
  struct mqr_operation* const shared = &operation->shared;
  const int completes = shared->node.kind == MQR_RECEIVE ? shared->status == MQR_MATCHED
                                                         : shared->node.kind == MQR_SEND;
  if (completes) {
    begin_update();
    mqr_publish_word(&shared->status, MQR_COMPLETE);
    end_update();
  }
  unlock();
  return completes ? MQR_OK : MQR_BAD_STATE;
}

void mqr_operation_remove(struct mqr_recorded_operation* operation) {
  if (!lock_ready())
    return;
  begin_update();
  mqr_list_remove(&operation->communicator->queues[operation->shared.node.kind],
                  &operation->member);
  end_update();
  mqr_pool_give(&operations, operation);
  unlock();
}
