#include "dll/recorder/mpi/groups.h"

#include "dll/recorder/layout.h"
#include "dll/recorder/mpi/communicator.h"

#include <pthread.h>
#include <stdlib.h>

static MPI_Group world_group;

int mqr_open_world_group(void) {
  return mqr_mpi.Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
}

void mqr_close_world_group(void) {
  mqr_mpi.Group_free(&world_group);
}

/* The ranks in another group of the first `size` members of a group. */
static int translate_into(MPI_Group other, MPI_Group group, int size, int32_t* there) {
  int* const ranks = calloc((size_t)size + 1, sizeof *ranks);
  if (ranks == NULL)
    return 0;
  for (int i = 0; i < size; ++i)
    ranks[i] = i;
  const int result = mqr_mpi.Group_translate_ranks(group, size, ranks, other, there);
  free(ranks);
  for (int i = 0; i < size; ++i) {
    if (there[i] == MPI_UNDEFINED)
      there[i] = MQR_WORLD_RANK_UNKNOWN;
  }
  return result == MPI_SUCCESS;
}

static int translate(MPI_Group group, int size, int32_t* world) {
  return translate_into(world_group, group, size, world);
}

int mqr_ranks_of(MPI_Group group, struct mqr_ranks* ranks) {
  *ranks = (struct mqr_ranks){NULL, 0};
  if (mqr_mpi.Group_size(group, &ranks->size) != MPI_SUCCESS)
    return 0;
  ranks->world = calloc((size_t)ranks->size + 1, sizeof *ranks->world);
  if (ranks->world != NULL && translate(group, ranks->size, ranks->world))
    return 1;
  free(ranks->world);
  ranks->world = NULL;
  return 0;
}

static int ranks_of_own(MPI_Group group, struct mqr_ranks* ranks) {
  const int done = mqr_ranks_of(group, ranks);
  mqr_mpi.Group_free(&group);
  return done;
}

int mqr_local_ranks(MPI_Comm comm, struct mqr_ranks* ranks) {
  MPI_Group group;
  return mqr_mpi.Comm_group(comm, &group) == MPI_SUCCESS && ranks_of_own(group, ranks);
}

int mqr_remote_ranks(MPI_Comm comm, struct mqr_ranks* ranks) {
  MPI_Group group;
  return mqr_mpi.Comm_remote_group(comm, &group) == MPI_SUCCESS && ranks_of_own(group, ranks);
}

/* `get` is MPI_Comm_group or MPI_Comm_remote_group. */
static int32_t first_of(__typeof__(mqr_mpi.Comm_group) get, MPI_Comm comm) {
  MPI_Group group;
  int32_t first = MQR_WORLD_RANK_UNKNOWN;
  if (get(comm, &group) != MPI_SUCCESS)
    return first;
  if (!translate(group, 1, &first))
    first = MQR_WORLD_RANK_UNKNOWN;
  mqr_mpi.Group_free(&group);
  return first;
}

static uint64_t mix_members(MPI_Group in, MPI_Group group, int size) {
  int32_t* const ranks = calloc((size_t)size + 1, sizeof *ranks);
  uint64_t mixed = (uint64_t)size;
  if (ranks == NULL || !translate_into(in, group, size, ranks))
    mixed = 0;
  for (int i = 0; i < size && mixed != 0; ++i)
    mixed = ranks[i] == MQR_WORLD_RANK_UNKNOWN ? 0 : mqr_mix(mixed, (uint64_t)ranks[i]);
  free(ranks);
  return mixed;
}

uint64_t mqr_first_members(MPI_Comm comm) {
  int inter = 0;
  const uint32_t local = (uint32_t)first_of(mqr_mpi.Comm_group, comm);
  uint32_t remote = local;
  if (mqr_mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
    remote = (uint32_t)first_of(mqr_mpi.Comm_remote_group, comm);
  const uint64_t least = local < remote ? local : remote;
  const uint64_t most = local < remote ? remote : local;
  return most << 32 | least;
}

/* The members of an intercommunicator are numbered by their ranks in the one or the other group of
 * the parent, whichever has the first member: so both sides get the same number. */
static uint32_t first_in(MPI_Comm parent, int inter, MPI_Group group) {
  int32_t first = MQR_WORLD_RANK_UNKNOWN;
  MPI_Group in;
  if (mqr_mpi.Comm_group(parent, &in) != MPI_SUCCESS)
    return (uint32_t)first;
  translate_into(in, group, 1, &first);
  mqr_mpi.Group_free(&in);
  if (first != MQR_WORLD_RANK_UNKNOWN || !inter ||
      mqr_mpi.Comm_remote_group(parent, &in) != MPI_SUCCESS)
    return (uint32_t)first;
  translate_into(in, group, 1, &first);
  mqr_mpi.Group_free(&in);
  return (uint32_t)first;
}

struct mqr_firsts mqr_first_members_in(MPI_Comm parent, MPI_Comm comm) {
  int parent_inter = 0;
  int inter = 0;
  MPI_Group group;
  mqr_mpi.Comm_test_inter(parent, &parent_inter);
  mqr_mpi.Comm_test_inter(comm, &inter);
  if (mqr_mpi.Comm_group(comm, &group) != MPI_SUCCESS)
    return (struct mqr_firsts){0, 0};
  const uint32_t local = first_in(parent, parent_inter, group);
  struct mqr_firsts firsts = {local, local};
  mqr_mpi.Group_free(&group);
  if (inter && mqr_mpi.Comm_remote_group(comm, &group) == MPI_SUCCESS) {
    firsts.remote = first_in(parent, parent_inter, group);
    mqr_mpi.Group_free(&group);
  }
  return firsts;
}

uint64_t mqr_members_in(MPI_Comm parent, MPI_Comm comm) {
  MPI_Group in;
  MPI_Group group;
  int size = 0;
  if (mqr_mpi.Comm_group(parent, &in) != MPI_SUCCESS)
    return 0;
  uint64_t mixed = 0;
  if (mqr_mpi.Comm_group(comm, &group) == MPI_SUCCESS) {
    if (mqr_mpi.Group_size(group, &size) == MPI_SUCCESS)
      mixed = mix_members(in, group, size);
    mqr_mpi.Group_free(&group);
  }
  mqr_mpi.Group_free(&in);
  return mixed;
}

enum { most_parts = 4096 };

static struct {
  uint64_t parts;
  uint32_t times;
} made[most_parts];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int mqr_times_made(uint64_t parts, uint32_t* times) {
  int remembered = 0;
  pthread_mutex_lock(&lock);
  for (uint64_t i = 0; i < most_parts && !remembered; ++i) {
    const uint64_t at = (parts + i) % most_parts;
    if (made[at].times != 0 && made[at].parts != parts)
      continue;
    made[at].parts = parts;
    *times = made[at].times++;
    remembered = 1;
  }
  pthread_mutex_unlock(&lock);
  return remembered;
}
