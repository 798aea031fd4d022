#include "dll/recorder/mpi/groups.h"

#include "dll/recorder/layout.h"

#include <stdlib.h>

static MPI_Group world_group;

int mqr_open_world_group(void) {
  return mqr_mpi.Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
}

void mqr_close_world_group(void) {
  mqr_mpi.Group_free(&world_group);
}

/* The first `size` members of a group. */
static int translate(MPI_Group group, int size, int32_t* world) {
  int* const ranks = calloc((size_t)size + 1, sizeof *ranks);
  if (ranks == NULL)
    return 0;
  for (int i = 0; i < size; ++i)
    ranks[i] = i;
  const int result = mqr_mpi.Group_translate_ranks(group, size, ranks, world_group, world);
  free(ranks);
  for (int i = 0; i < size; ++i) {
    if (world[i] == MPI_UNDEFINED)
      world[i] = MQR_WORLD_RANK_UNKNOWN;
  }
  return result == MPI_SUCCESS;
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
