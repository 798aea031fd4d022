/* Communicators that are made from others, named and freed. */

#include "dll/recorder/mpi/collective.h"
#include "dll/recorder/mpi/handles.h"

/* A collective of the whole parent, `comm`, that makes the communicator `*made`. `learn` notes what
 * only the arguments tell of it. */
#define CONSTRUCTOR_TELLS(name, learn, parameters, arguments)                                      \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, MQR_##name, comm, MQR_NO_ROOT);  \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS) {                                                                   \
      mqr_comm_derive(*made, entered.comm, entered.sequence);                                      \
      learn;                                                                                       \
    }                                                                                              \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
#define CONSTRUCTOR(name, parameters, arguments)                                                   \
  CONSTRUCTOR_TELLS(name, (void)0, parameters, arguments)

/* Whether the program lets MPI reorder the ranks: MPI cannot be asked for it. */
#define ORDERING_CONSTRUCTOR(name, parameters, arguments)                                          \
  CONSTRUCTOR_TELLS(name, note_reordering(*made, reorder), parameters, arguments)
static void note_reordering(MPI_Comm handle, int reorder) {
  const struct mqr_comm* const comm = handle != MPI_COMM_NULL ? mqr_comm_find(handle) : NULL;
  if (comm != NULL)
    mqr_learn_topology(handle, comm->recorded, reorder ? MQR_REORDERED : MQR_NOT_REORDERED);
}

CONSTRUCTOR(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
CONSTRUCTOR(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
CONSTRUCTOR(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
CONSTRUCTOR(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
            (comm, color, key, made))
CONSTRUCTOR(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
            (comm, type, key, info, made))
CONSTRUCTOR(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made))
ORDERING_CONSTRUCTOR(Cart_create,
                     (MPI_Comm comm, int count, const int sizes[], const int periods[], int reorder,
                      MPI_Comm* made),
                     (comm, count, sizes, periods, reorder, made))
CONSTRUCTOR(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made), (comm, remain, made))
ORDERING_CONSTRUCTOR(Graph_create,
                     (MPI_Comm comm, int count, const int index[], const int edges[], int reorder,
                      MPI_Comm* made),
                     (comm, count, index, edges, reorder, made))
ORDERING_CONSTRUCTOR(Dist_graph_create,
                     (MPI_Comm comm, int count, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int reorder,
                      MPI_Comm* made),
                     (comm, count, sources, degrees, destinations, weights, info, reorder, made))
ORDERING_CONSTRUCTOR(Dist_graph_create_adjacent,
                     (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
                      const int destinations[], const int out_weights[], MPI_Info info, int reorder,
                      MPI_Comm* made),
                     (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder,
                      made))

/* MPI may write the handle now or later. If it has, the communicator counts from now on; if not, it
 * is taken in when the program first uses it. */
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

typedef int free_function(MPI_Comm* handle);

static int freeing(free_function* next, MPI_Comm* handle) {
  struct mqr_comm* const comm = mqr_comm_withdraw(*handle);
  const int result = next(handle);
  if (result == MPI_SUCCESS)
    mqr_comm_freed(comm);
  else
    mqr_comm_not_freed(comm);
  return result;
}

/* Freeing waits for all members, so the communicator is listed until the call has returned. */
static int record_freeing(const struct mqr_call* call, enum mqr_function function,
                          MPI_Comm* handle) {
  const struct mqr_entered entered = mqr_enter_collective(call, function, *handle, MQR_NO_ROOT);
  const int result = freeing((free_function*)call->next, handle);
  mqr_leave_collective(&entered, result);
  return result;
}

/* A callback of the program (for an attribute) may free another communicator within a call. That is
 * not recorded as a call, but the communicator is gone. */
#define FREEING(prefix, name)                                                                      \
  MQR_EXPORTED int prefix##name(MPI_Comm* handle) {                                                \
    static mqr_any_function* next;                                                                 \
    MQR_CALL(call);                                                                                \
    if (!mqr_begins(&call, &next, #prefix #name, __builtin_return_address(0),                      \
                    __builtin_frame_address(0)))                                                   \
      return freeing((free_function*)call.next, handle);                                           \
    const int result = record_freeing(&call, MQR_##name, handle);                                  \
    mqr_ends(&call);                                                                               \
    return result;                                                                                 \
  }
FREEING(MPI_, Comm_free)
FREEING(PMPI_, Comm_free)
FREEING(MPI_, Comm_disconnect)
FREEING(PMPI_, Comm_disconnect)
