#include "dll/recorder/mpi/joint.h"

#include "dll/recorder/mpi/groups.h"
#include "dll/recorder/mpi/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t mqr_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Mixes a group's members, in their order, to a number that is the same on each member. 0: some
 * members belong to other jobs. */
static uint64_t mix_ranks(const struct mqr_ranks* ranks) {
  uint64_t mixed = (uint64_t)ranks->size;
  for (int32_t i = 0; i < ranks->size; ++i) {
    if (ranks->world[i] == MQR_WORLD_RANK_UNKNOWN)
      return 0;
    mixed = mqr_mix(mixed, (uint64_t)ranks->world[i]);
  }
  return mixed;
}

/* Agrees on an id if all members belong to this job. 0: they do not. */
static int add_agreed(const struct mqr_ranks* local, const struct mqr_ranks* remote, int tag,
                      MPI_Comm made) {
  const uint64_t own = mix_ranks(local);
  const uint64_t other = mix_ranks(remote);
  uint32_t times = 0;
  if (own == 0 || other == 0)
    return 0;
  /* This number is the same on both sides. */
  const uint64_t parts = mqr_mix(mqr_mix(own ^ other, own + other), (uint64_t)tag);
  if (!mqr_times_made(parts, &times))
    return 0;
  mqr_comm_add(made, mqr_mix(parts, times), 0);
  return 1;
}

/* MPI_Comm_join has two processes, each of which is a side by itself. */
static uint64_t id_of_pair(void) {
  int rank = 0;
  mqr_mpi.Comm_rank(MPI_COMM_WORLD, &rank);
  return mqr_mix(mqr_local_id(), (uint64_t)rank);
}

/* Fills in the fields on which the members of the local group agree. 0: they agree on nothing. */
static int describe(const struct mqr_meeting* meeting, struct mqr_joint_spec* spec) {
  const struct mqr_comm* const comm = meeting->comm;
  if (meeting->function == MQR_Comm_join) {
    spec->id = spec->path = id_of_pair();
    return 1;
  }
  if (comm == NULL || (comm->joint == 0 && (comm->flags & MQR_ID_LOCAL) != 0))
    return 0;
  spec->id = mqr_mix(comm->id, meeting->sequence);
  spec->base = comm->joint;
  spec->path = comm->joint != 0 ? comm->path : comm->id;
  return 1;
}

static enum mqr_side side_of(enum mqr_function function) {
  switch (function) {
  case MQR_Comm_spawn:
  case MQR_Comm_spawn_multiple:
  case MQR_Comm_accept:
    return MQR_FIRST_SIDE;
  case MQR_Init:
  case MQR_Comm_connect:
    return MQR_SECOND_SIDE;
  default:
    return MQR_EITHER_SIDE;
  }
}

static void add_joint(const struct mqr_meeting* meeting, const struct mqr_ranks* local,
                      const struct mqr_ranks* remote, MPI_Comm made) {
  struct mqr_joint_spec spec = {.began = meeting->began,
                                .ended = mqr_now(),
                                .sequence = meeting->sequence,
                                .function = meeting->function,
                                .size = local->size,
                                .remote_size = remote->size,
                                .mark = meeting->mark};
  if (describe(meeting, &spec) && mqr_joint_add(&spec) == MQR_OK)
    mqr_comm_add_joined(made, spec.id, 0, side_of(meeting->function));
  else
    mqr_comm_add(made, mqr_local_id(), MQR_ID_LOCAL);
}

void mqr_meet(const struct mqr_meeting* meeting, int tag, MPI_Comm made) {
  struct mqr_ranks local = {NULL, 0};
  struct mqr_ranks remote = {NULL, 0};
  if (made == MPI_COMM_NULL)
    return;
  if (!mqr_local_ranks(made, &local) || !mqr_remote_ranks(made, &remote))
    mqr_comm_add(made, mqr_local_id(), MQR_ID_LOCAL);
  else if (!add_agreed(&local, &remote, tag, made))
    add_joint(meeting, &local, &remote, made);
  free(local.world);
  free(remote.world);
}

/* Open MPI's children get the name of the process that has spawned them, with a number that only
 * the two know: "JOB.RANK:NUMBER". MPICH's children get nothing that their parents know as well.
 * But the processes spawned first under an mpiexec were spawned by the job itself. */
static void mark_parents(char* mark) {
  int group = 0;
  const char* const hydra = mqr_hydra(&group);
  if (hydra != NULL && group == 1) {
    snprintf(mark, MQR_MARK_SIZE, "first of %s", hydra);
    return;
  }
  const char* const parent = getenv("OMPI_PARENT_PORT");
  snprintf(mark, MQR_MARK_SIZE, "%.200s", parent != NULL ? parent : "");
  char* const number = strrchr(mark, ':');
  if (number != NULL)
    *number = '\0';
}

/* Whether all processes of the job take part: then each of them knows all such calls, and a reader
 * that sees only one such call knows that there was no other. */
static int all_of_the_job(const struct mqr_comm* comm) {
  int size = 0;
  int all = 0;
  return mqr_mpi.Comm_size(comm->handle, &size) == MPI_SUCCESS &&
         mqr_mpi.Comm_size(MPI_COMM_WORLD, &all) == MPI_SUCCESS && size == all;
}

void mqr_mark_spawn(const struct mqr_comm* comm, int root, char* mark) {
  int group = 0;
  const char* const hydra = mqr_hydra(&group);
  const char* const job = getenv("PMIX_NAMESPACE");
  const int32_t rank =
      comm != NULL ? mqr_communicator_world_rank(comm->recorded, root) : MQR_WORLD_RANK_UNKNOWN;
  mark[0] = '\0';
  if (job != NULL && rank != MQR_WORLD_RANK_UNKNOWN)
    snprintf(mark, MQR_MARK_SIZE, "%.200s.%d", job, (int)rank);
  else if (hydra != NULL && group == 0 && comm != NULL && all_of_the_job(comm))
    snprintf(mark, MQR_MARK_SIZE, "first of %s", hydra);
}

void mqr_meet_parents(uint64_t began) {
  char mark[MQR_MARK_SIZE];
  MPI_Comm parent = MPI_COMM_NULL;
  if (mqr_mpi.Comm_get_parent(&parent) != MPI_SUCCESS || parent == MPI_COMM_NULL)
    return;
  mark_parents(mark);
  const struct mqr_meeting meeting = {.function = MQR_Init,
                                      .comm = mqr_comm_of(MPI_COMM_WORLD),
                                      .sequence = UINT32_MAX, /* before all others */
                                      .began = began,
                                      .mark = mark};
  mqr_meet(&meeting, 0, parent);
}
