/* Communicators that only some members of a parent make, that join two groups, or that reach beyond
 * MPI_COMM_WORLD. */

#include "dll/recorder/mpi/collective.h"
#include "dll/recorder/mpi/groups.h"
#include "dll/recorder/mpi/joint.h"
#include "dll/recorder/mpi/socket_mark.h"

#include <stdio.h>

static void add_local(MPI_Comm made) {
  mqr_comm_add(made, mqr_local_id(), MQR_ID_LOCAL);
}

/* Several communicators may be made of the same members and tag. All members number them alike,
 * whatever other communicators each member makes. */
static void add_agreed(const struct mqr_comm* parent, MPI_Comm made, uint64_t members, int tag) {
  const uint64_t parts = mqr_mix(members, (uint64_t)tag);
  uint32_t times = 0;
  if (!mqr_times_made(mqr_mix(parent->id, parts), &times))
    add_local(made);
  else if (parent->joint != 0)
    mqr_comm_add_joined(made, parent->joint, mqr_mix(mqr_mix(parent->path, parts), times),
                        parent->side);
  else
    mqr_comm_add(made, mqr_mix(mqr_mix(parent->id, parts), times), 0);
}

static void met(const struct mqr_entered* entered, uint64_t began, const char* mark, int tag,
                MPI_Comm made) {
  const struct mqr_meeting meeting = {.function = entered->function,
                                      .comm = entered->comm,
                                      .sequence = entered->sequence,
                                      .began = began,
                                      .mark = mark};
  mqr_meet(&meeting, tag, made);
}

/* The name of a port only counts at the root. */
static void mark_port(MPI_Comm comm, int root, const char* port, char* mark) {
  int rank = -1;
  mark[0] = '\0';
  if (mqr_mpi.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root)
    snprintf(mark, MQR_MARK_SIZE, "%.255s", port);
}

MQR_RECORDED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
             (comm, group, tag, made))
static int record_Comm_create_group(const struct mqr_call* call, MPI_Comm comm, MPI_Group group,
                                    int tag, MPI_Comm* made) {
  mqr_enter_message(call, MQR_Comm_create_group, comm);
  const int result = MQR_NEXT(Comm_create_group)(comm, group, tag, made);
  const struct mqr_comm* const parent = mqr_comm_of(comm);
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    const uint64_t members = parent != NULL ? mqr_members_in(comm, *made) : 0;
    if (members == 0 || (parent->joint == 0 && (parent->flags & MQR_ID_LOCAL) != 0))
      add_local(*made);
    else
      add_agreed(parent, *made, members, tag);
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
  char mark[MQR_MARK_SIZE];
  const uint64_t began = mqr_now();
  const struct mqr_entered entered =
      mqr_enter_collective(call, MQR_Intercomm_create, comm, MQR_NO_ROOT);
  const int result = MQR_NEXT(Intercomm_create)(comm, leader, peers, remote_leader, tag, made);
  snprintf(mark, sizeof mark, "tag %d", tag);
  if (result == MPI_SUCCESS)
    met(&entered, began, mark, tag, *made);
  mqr_leave_collective(&entered, result);
  return result;
}

/* `marking` writes into `mark` a text that the other side knows, too. */
#define BEYOND(name, marking, parameters, arguments)                                               \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    char mark[MQR_MARK_SIZE];                                                                      \
    const uint64_t began = mqr_now();                                                              \
    const struct mqr_entered entered =                                                             \
        mqr_enter_collective(call, MQR_##name, comm, mqr_root_of(root));                           \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS) {                                                                   \
      marking;                                                                                     \
      met(&entered, began, mark, 0, *made);                                                        \
    }                                                                                              \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
BEYOND(Comm_connect, mark_port(comm, root, port, mark),
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
       (port, info, root, comm, made))
BEYOND(Comm_accept, mark_port(comm, root, port, mark),
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
       (port, info, root, comm, made))
BEYOND(Comm_spawn, mqr_mark_spawn(entered.comm, root, mark),
       (const char* command, char* arguments[], int count, MPI_Info info, int root, MPI_Comm comm,
        MPI_Comm* made, int errors[]),
       (command, arguments, count, info, root, comm, made, errors))
BEYOND(Comm_spawn_multiple, mqr_mark_spawn(entered.comm, root, mark),
       (int kinds, char* commands[], char** arguments[], const int counts[], const MPI_Info infos[],
        int root, MPI_Comm comm, MPI_Comm* made, int errors[]),
       (kinds, commands, arguments, counts, infos, root, comm, made, errors))

MQR_RECORDED(Comm_join, (int socket, MPI_Comm* made), (socket, made))
static int record_Comm_join(const struct mqr_call* call, int socket, MPI_Comm* made) {
  char mark[MQR_MARK_SIZE];
  const uint64_t began = mqr_now();
  mqr_enter_plain(call, MQR_Comm_join);
  const int result = MQR_NEXT(Comm_join)(socket, made);
  const struct mqr_entered entered = {.function = MQR_Comm_join};
  if (result == MPI_SUCCESS) {
    mqr_mark_socket(socket, mark);
    met(&entered, began, mark, 0, *made);
  }
  mqr_leave();
  return result;
}
