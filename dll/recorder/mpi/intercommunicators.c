/* Communicators that some members of another one make, that join two groups, or that reach beyond
 * MPI_COMM_WORLD. */

#include "dll/recorder/mpi/agreed.h"
#include "dll/recorder/mpi/collective.h"
#include "dll/recorder/mpi/groups.h"

#include <stdlib.h>

/* The same on each member: a group's members in their order. 0: unknown. */
static uint64_t mix_ranks(const struct mqr_ranks* ranks) {
  uint64_t mixed = (uint64_t)ranks->size;
  for (int32_t i = 0; i < ranks->size; ++i) {
    if (ranks->world[i] == MQR_WORLD_RANK_UNKNOWN)
      return 0;
    mixed = mqr_mix(mixed, (uint64_t)ranks->world[i]);
  }
  return mixed;
}

static uint64_t mix_local(MPI_Comm comm) {
  struct mqr_ranks ranks;
  const uint64_t mixed = mqr_local_ranks(comm, &ranks) ? mix_ranks(&ranks) : 0;
  free(ranks.world);
  return mixed;
}

static uint64_t mix_remote(MPI_Comm comm) {
  struct mqr_ranks ranks;
  const uint64_t mixed = mqr_remote_ranks(comm, &ranks) ? mix_ranks(&ranks) : 0;
  free(ranks.world);
  return mixed;
}

static void add_local(MPI_Comm made) {
  mqr_comm_add(made, mqr_local_id(), MQR_ID_LOCAL);
}

/* All members make the n-th communicator of these parts, whatever else each of them makes. */
static void add_agreed(MPI_Comm made, uint64_t parts) {
  uint32_t times = 0;
  if (mqr_times_made(parts, &times))
    mqr_comm_add(made, mqr_mix(parts, times), 0);
  else
    add_local(made);
}

MQR_RECORDED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
             (comm, group, tag, made))
static int record_Comm_create_group(const struct mqr_call* call, MPI_Comm comm, MPI_Group group,
                                    int tag, MPI_Comm* made) {
  mqr_enter_message(call, MQR_Comm_create_group, comm);
  const int result = MQR_NEXT(Comm_create_group)(comm, group, tag, made);
  const struct mqr_comm* const parent = mqr_comm_of(comm);
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    const uint64_t members = mix_local(*made);
    if (parent == NULL || (parent->flags & MQR_ID_LOCAL) != 0 || members == 0)
      add_local(*made);
    else
      add_agreed(*made, mqr_mix(mqr_mix(parent->id, members), (uint64_t)tag));
  }
  mqr_leave();
  return result;
}

MQR_RECORDED(Intercomm_create,
             (MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag,
              MPI_Comm* made),
             (comm, leader, peers, remote_leader, tag, made))
static int record_Intercomm_create(const struct mqr_call* call, MPI_Comm comm, int leader,
                                   MPI_Comm peers, int remote_leader, int tag, MPI_Comm* made) {
  const struct mqr_entered entered =
      mqr_enter_collective(call, MQR_Intercomm_create, comm, MQR_NO_ROOT);
  const int result = MQR_NEXT(Intercomm_create)(comm, leader, peers, remote_leader, tag, made);
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    const uint64_t local = mix_local(*made);
    const uint64_t remote = mix_remote(*made);
    if (local == 0 || remote == 0)
      add_local(*made);
    else /* the same number on both sides */
      add_agreed(*made, mqr_mix(mqr_mix(local ^ remote, local + remote), (uint64_t)tag));
  }
  mqr_leave_collective(&entered, result);
  return result;
}

/* The other side is another MPI_COMM_WORLD, whose processes have ids of their own. */
#define BEYOND(name, the_root, parameters, arguments)                                              \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, MQR_##name, comm, the_root);     \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS)                                                                     \
      add_local(*made);                                                                            \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
BEYOND(Comm_connect, mqr_root_of(root),
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
       (port, info, root, comm, made))
BEYOND(Comm_accept, mqr_root_of(root),
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
       (port, info, root, comm, made))
BEYOND(Comm_spawn, mqr_root_of(root),
       (const char* command, char* arguments[], int count, MPI_Info info, int root, MPI_Comm comm,
        MPI_Comm* made, int errors[]),
       (command, arguments, count, info, root, comm, made, errors))
BEYOND(Comm_spawn_multiple, mqr_root_of(root),
       (int kinds, char* commands[], char** arguments[], const int counts[], const MPI_Info infos[],
        int root, MPI_Comm comm, MPI_Comm* made, int errors[]),
       (kinds, commands, arguments, counts, infos, root, comm, made, errors))

MQR_RECORDED(Comm_join, (int socket, MPI_Comm* made), (socket, made))
static int record_Comm_join(const struct mqr_call* call, int socket, MPI_Comm* made) {
  mqr_enter_plain(call, MQR_Comm_join);
  const int result = MQR_NEXT(Comm_join)(socket, made);
  if (result == MPI_SUCCESS)
    add_local(*made);
  mqr_leave();
  return result;
}

/* Nobody has used it before the program asks for it the first time. */
MQR_RECORDED(Comm_get_parent, (MPI_Comm * parent), (parent))
static int record_Comm_get_parent(const struct mqr_call* call, MPI_Comm* parent) {
  const int result = MQR_NEXT(Comm_get_parent)(parent);
  if (result == MPI_SUCCESS)
    add_local(*parent);
  return result;
}
