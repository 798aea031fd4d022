/* Communicators that are made from others, named and freed. */

#include "dll/recorder/mpi/collective.h"

/* A collective of the whole parent, `comm`, that makes the communicator `*made`. */
#define CONSTRUCTOR(name, parameters, arguments)                                                   \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, MQR_##name, comm, MQR_NO_ROOT);  \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS)                                                                     \
      mqr_comm_derive(*made, entered.comm, entered.sequence);                                      \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }

CONSTRUCTOR(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
CONSTRUCTOR(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
CONSTRUCTOR(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
CONSTRUCTOR(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
            (comm, color, key, made))
CONSTRUCTOR(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
            (comm, type, key, info, made))
CONSTRUCTOR(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made))
CONSTRUCTOR(Cart_create,
            (MPI_Comm comm, int count, const int sizes[], const int periods[], int reorder,
             MPI_Comm* made),
            (comm, count, sizes, periods, reorder, made))
CONSTRUCTOR(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made), (comm, remain, made))
CONSTRUCTOR(Graph_create,
            (MPI_Comm comm, int count, const int index[], const int edges[], int reorder,
             MPI_Comm* made),
            (comm, count, index, edges, reorder, made))
CONSTRUCTOR(Dist_graph_create,
            (MPI_Comm comm, int count, const int sources[], const int degrees[],
             const int destinations[], const int weights[], MPI_Info info, int reorder,
             MPI_Comm* made),
            (comm, count, sources, degrees, destinations, weights, info, reorder, made))
CONSTRUCTOR(Dist_graph_create_adjacent,
            (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
             const int destinations[], const int out_weights[], MPI_Info info, int reorder,
             MPI_Comm* made),
            (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made))

/* MPI may write the handle now or later. If it has, the communicator is there from now on; if not,
 * it is taken in when the program uses it. */
MQR_RECORDED(Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request),
             (comm, made, request))
static int record_Comm_idup(const struct mqr_call* call, MPI_Comm comm, MPI_Comm* made,
                            MPI_Request* request) {
  const MPI_Comm before = *made;
  const struct mqr_entered entered = mqr_enter_collective(call, MQR_Comm_idup, comm, MQR_NO_ROOT);
  const int result = MQR_NEXT(Comm_idup)(comm, made, request);
  mqr_collective_posted(call, &entered, result, request);
  if (result == MPI_SUCCESS && *made != before)
    mqr_comm_add_twin(*made, entered.comm, entered.sequence);
  mqr_leave_collective(&entered, result);
  return result;
}

MQR_RECORDED(Comm_set_name, (MPI_Comm handle, const char* name), (handle, name))
static int record_Comm_set_name(const struct mqr_call* call, MPI_Comm handle, const char* name) {
  const int result = MQR_NEXT(Comm_set_name)(handle, name);
  const struct mqr_comm* const comm = result == MPI_SUCCESS ? mqr_comm_of(handle) : NULL;
  if (comm != NULL)
    mqr_communicator_rename(comm->recorded, name);
  return result;
}

/* Each waits for all members, so that it is listed until it has returned. */
#define FREEING(name)                                                                              \
  MQR_RECORDED(name, (MPI_Comm * handle), (handle))                                                \
  static int record_##name(const struct mqr_call* call, MPI_Comm* handle) {                        \
    const struct mqr_entered entered =                                                             \
        mqr_enter_collective(call, MQR_##name, *handle, MQR_NO_ROOT);                              \
    struct mqr_comm* const comm = mqr_comm_withdraw(*handle);                                      \
    const int result = MQR_NEXT(name)(handle);                                                     \
    mqr_leave_collective(&entered, result);                                                        \
    if (result == MPI_SUCCESS)                                                                     \
      mqr_comm_freed(comm);                                                                        \
    else                                                                                           \
      mqr_comm_not_freed(comm);                                                                    \
    return result;                                                                                 \
  }
FREEING(Comm_free)
FREEING(Comm_disconnect)
