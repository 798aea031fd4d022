#include "dll/recorder/mpi/communicator.h"

#include "dll/recorder/mpi/groups.h"
#include "dll/recorder/mpi/handles.h"
#include "dll/recorder/mpi/variables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { buckets = 1024 };

static struct mqr_comm* table[buckets];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The communicator that this thread used last; no other thread writes here. Freeing any
 * communicator makes it void. */
static _Thread_local struct {
  MPI_Comm handle;
  struct mqr_comm* comm;
  uint32_t epoch;
} last_used __attribute__((tls_model("initial-exec")));
static uint32_t epoch = 1;

uint64_t mqr_mix(uint64_t seed, uint64_t part) { /* splitmix64 */
  uint64_t mixed = seed + UINT64_C(0x9e3779b97f4a7c15) + part * UINT64_C(0xd1342543de82ef95);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ (mixed >> 31);
}

uint64_t mqr_local_id(void) {
  static uint32_t count;
  return mqr_mix(mqr_mix(0, 1), __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
}

static struct mqr_comm** bucket_of(MPI_Comm handle) {
  return &table[mqr_mix(0, (uint64_t)(uintptr_t)handle) % buckets];
}

static struct mqr_comm* find_locked(MPI_Comm handle) {
  struct mqr_comm* comm = *bucket_of(handle);
  while (comm != NULL && comm->handle != handle)
    comm = comm->next;
  return comm;
}

static void link_locked(struct mqr_comm* comm) {
  struct mqr_comm** const bucket = bucket_of(comm->handle);
  comm->next = *bucket;
  *bucket = comm;
}

/* Learns more of a communicator that MPI has finished, so that the program may use it. */
static void learn(struct mqr_comm* comm) {
  mqr_learn_handles(comm->handle, comm->recorded, comm->inter);
  comm->asked = 1;
}

/* The id, joint and path that tell it from others (struct mqr_communicator). */
struct identity {
  uint64_t id;
  uint32_t flags;
  uint64_t joint, path;
  enum mqr_side side;
};

static struct identity joined(uint64_t joint, uint64_t path, enum mqr_side side) {
  return (struct identity){mqr_mix(joint, path), MQR_ID_LOCAL, joint, path, side};
}

/* Asks MPI about `like`, which is the new communicator itself, or has the same groups. `given`: its
 * name; NULL: MPI knows it. */
static struct mqr_comm* describe(MPI_Comm handle, MPI_Comm like, struct identity is,
                                 const char* given) {
  struct mqr_comm* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  struct mqr_communicator_spec spec = {.name = name, .id = is.id, .flags = is.flags};
  struct mqr_ranks local = {NULL, 0};
  struct mqr_ranks remote = {NULL, 0};
  *made = (struct mqr_comm){.handle = handle,
                            .id = is.id,
                            .flags = is.flags & MQR_ID_LOCAL,
                            .side = is.side,
                            .joint = is.joint,
                            .path = is.path};
  if (mqr_mpi.Comm_test_inter(like, &made->inter) == MPI_SUCCESS &&
      mqr_mpi.Comm_rank(like, &spec.local_rank) == MPI_SUCCESS && mqr_local_ranks(like, &local) &&
      (!made->inter || mqr_remote_ranks(like, &remote))) {
    if (given != NULL)
      spec.name = given;
    else if (like != handle || mqr_mpi.Comm_get_name(handle, name, &length) != MPI_SUCCESS)
      name[0] = '\0';
    spec.size = local.size;
    spec.group = local.world;
    spec.remote_size = remote.size;
    spec.remote_group = remote.world;
    mqr_communicator_add_joined(&spec, is.joint, is.path, &made->recorded);
  }
  free(local.world);
  free(remote.world);
  if (made->recorded != NULL)
    return made;
  mqr_note_gap();
  free(made);
  return NULL;
}

/* Open MPI's variables of an intercommunicator take one group for the other. A communicator that is
 * not `whole` may still be under construction. Neither is sampled. */
static void watch(struct mqr_comm* comm, int whole) {
  comm->sampled = whole && !comm->inter;
  if (comm->sampled)
    mqr_variables_add_communicator(comm->handle, comm->id);
}

/* Adds a communicator, unless another thread has taken it in at the same time. */
static struct mqr_comm* add(MPI_Comm handle, MPI_Comm like, struct identity is) {
  struct mqr_comm* const made = describe(handle, like, is, NULL);
  if (made == NULL)
    return NULL;
  pthread_mutex_lock(&lock);
  struct mqr_comm* const there = find_locked(handle);
  if (there == NULL)
    link_locked(made);
  pthread_mutex_unlock(&lock);
  if (there == NULL) {
    if (handle == like)
      learn(made);
    else
      mqr_learn_twin(handle, made->recorded);
    watch(made, like == handle);
    return made;
  }
  mqr_communicator_free(made->recorded);
  free(made);
  return there;
}

/* Adds a handle whose making nobody has seen, if MPI says that it is a communicator. */
static struct mqr_comm* take_in(MPI_Comm handle) {
  int inter = 0;
  struct mqr_quiet quiet = mqr_quietly();
  const int is_one = mqr_mpi.Comm_test_inter(handle, &inter) == MPI_SUCCESS;
  mqr_aloud(&quiet);
  if (!is_one)
    return NULL;
  const struct identity is = {.id = mqr_local_id(), .flags = MQR_ID_LOCAL | MQR_INCOMPLETE};
  return add(handle, handle, is);
}

struct mqr_comm* mqr_comm_of(MPI_Comm handle) {
  const uint32_t now = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
  if (last_used.handle == handle && last_used.epoch == now)
    return last_used.comm;
  if (handle == MPI_COMM_NULL)
    return NULL;
  pthread_mutex_lock(&lock);
  struct mqr_comm* comm = find_locked(handle);
  pthread_mutex_unlock(&lock);
  if (comm == NULL)
    comm = take_in(handle);
  if (comm == NULL)
    return NULL;
  if (!comm->asked)
    learn(comm);
  last_used.handle = handle;
  last_used.comm = comm;
  last_used.epoch = now;
  return comm;
}

struct mqr_comm* mqr_comm_find(MPI_Comm handle) {
  pthread_mutex_lock(&lock);
  struct mqr_comm* const comm = find_locked(handle);
  pthread_mutex_unlock(&lock);
  return comm;
}

void mqr_comm_for_each(void (*visit)(struct mqr_comm* comm)) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < buckets; ++i)
    for (struct mqr_comm* comm = table[i]; comm != NULL; comm = comm->next)
      visit(comm);
  pthread_mutex_unlock(&lock);
}

void mqr_comm_add(MPI_Comm handle, uint64_t id, uint32_t flags) {
  if (handle != MPI_COMM_NULL)
    add(handle, handle, (struct identity){.id = id, .flags = flags});
}

void mqr_comm_add_joined(MPI_Comm handle, uint64_t joint, uint64_t path, enum mqr_side side) {
  add(handle, handle, joined(joint, path, side));
}

/* The identity of a communicator beyond this job. If its first members give no number, the other
 * side has no name for it either. */
static struct identity derived_beyond(const struct mqr_comm* parent, uint32_t sequence,
                                      MPI_Comm like) {
  uint64_t number = 0;
  if (!mqr_number_of_firsts(parent->side, mqr_first_members_in(parent->handle, like), &number))
    return (struct identity){.id = mqr_local_id(), .flags = MQR_ID_LOCAL};
  return joined(parent->joint, mqr_mix(mqr_mix(parent->path, sequence), number), parent->side);
}

/* The parts of one MPI_Comm_split differ in their first members. */
static struct identity derived(const struct mqr_comm* parent, uint32_t sequence, MPI_Comm like) {
  if (parent->joint != 0)
    return derived_beyond(parent, sequence, like);
  return (struct identity){.id = mqr_mix(mqr_mix(parent->id, sequence), mqr_first_members(like)),
                           .flags = parent->flags & MQR_ID_LOCAL};
}

void mqr_comm_derive(MPI_Comm handle, const struct mqr_comm* parent, uint32_t sequence) {
  if (handle == MPI_COMM_NULL)
    return;
  if (parent != NULL)
    add(handle, handle, derived(parent, sequence, handle));
  else
    mqr_comm_of(handle);
}

void mqr_comm_add_twin(MPI_Comm handle, const struct mqr_comm* parent, uint32_t sequence) {
  if (handle != MPI_COMM_NULL && parent != NULL)
    add(handle, parent->handle, derived(parent, sequence, parent->handle));
}

struct mqr_comm* mqr_comm_make_internal(const struct mqr_comm* parent, uint32_t sequence,
                                        const char* name) {
  struct identity is = derived(parent, sequence, parent->handle);
  is.flags |= MQR_INTERNAL;
  return describe(MPI_COMM_NULL, parent->handle, is, name);
}

void mqr_comm_add_predefined(void) {
  int rank = 0;
  mqr_mpi.Comm_rank(MPI_COMM_WORLD, &rank);
  mqr_comm_add(MPI_COMM_WORLD, MQR_ID_OF_WORLD, 0);
  mqr_comm_add(MPI_COMM_SELF, mqr_mix(mqr_mix(0, 2), (uint64_t)rank), 0);
}

struct mqr_comm* mqr_comm_withdraw(MPI_Comm handle) {
  pthread_mutex_lock(&lock);
  struct mqr_comm** link = bucket_of(handle);
  while (*link != NULL && (*link)->handle != handle)
    link = &(*link)->next;
  struct mqr_comm* const comm = *link;
  if (comm != NULL)
    *link = comm->next;
  __atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  if (comm != NULL && comm->sampled)
    mqr_variables_remove_communicator(handle);
  return comm;
}

void mqr_comm_freed(struct mqr_comm* comm) {
  if (comm == NULL)
    return;
  mqr_communicator_free(comm->recorded);
  free(comm);
}

void mqr_comm_not_freed(struct mqr_comm* comm) {
  if (comm == NULL)
    return;
  pthread_mutex_lock(&lock);
  link_locked(comm);
  pthread_mutex_unlock(&lock);
  /* MPI may have deleted some attributes. It is not asked: MPICH has half destroyed a communicator
   * if an attribute refused to be deleted. */
  mqr_communicator_lose_attributes(comm->recorded);
  watch(comm, comm->sampled);
}

void mqr_comm_forget_all(void) {
  mqr_variables_forget_communicators();
  for (int i = 0; i < buckets; ++i) {
    while (table[i] != NULL) {
      struct mqr_comm* const comm = table[i];
      table[i] = comm->next;
      free(comm);
    }
  }
  __atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELEASE);
}
