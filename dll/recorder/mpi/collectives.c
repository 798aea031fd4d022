/* All collectives, each with its nonblocking twin and the call that makes its persistent request.
 * For persistent collectives only the request is recorded. */

#include "dll/recorder/mpi/collective.h"

#define BLOCKING(name, the_root, parameters, arguments)                                            \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, MQR_##name, comm, the_root);     \
    const int result = MQR_NEXT(name) arguments;                                                   \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
#define NONBLOCKING(name, the_root, parameters, arguments)                                         \
  MQR_RECORDED(name, (MQR_UNPACK parameters, MPI_Request * request),                               \
               (MQR_UNPACK arguments, request))                                                    \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters,                     \
                           MPI_Request* request) {                                                 \
    const struct mqr_entered entered = mqr_enter_collective(call, MQR_##name, comm, the_root);     \
    const int result = MQR_NEXT(name)(MQR_UNPACK arguments, request);                              \
    mqr_collective_posted(call, &entered, result, request);                                        \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
#if MPI_VERSION >= 4
#define PERSISTENT(name, parameters, arguments)                                                    \
  MQR_RECORDED(name, (MQR_UNPACK parameters, MPI_Info info, MPI_Request * request),                \
               (MQR_UNPACK arguments, info, request))                                              \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters, MPI_Info info,      \
                           MPI_Request* request) {                                                 \
    mqr_enter_message(call, MQR_##name, comm);                                                     \
    const int result = MQR_NEXT(name)(MQR_UNPACK arguments, info, request);                        \
    mqr_posted_unqueued(call, MQR_##name, MQR_INACTIVE, comm, result, request);                    \
    mqr_leave();                                                                                   \
    return result;                                                                                 \
  }
#else
#define PERSISTENT(name, parameters, arguments)
#endif
#define BOTH(name, nonblocking, the_root, parameters, arguments)                                   \
  BLOCKING(name, the_root, parameters, arguments)                                                  \
  NONBLOCKING(nonblocking, the_root, parameters, arguments)                                        \
  PERSISTENT(name##_init, parameters, arguments)
#define ROOTED(name, nonblocking, parameters, arguments)                                           \
  BOTH(name, nonblocking, mqr_root_of(root), parameters, arguments)
#define ROOTLESS(name, nonblocking, parameters, arguments)                                         \
  BOTH(name, nonblocking, MQR_NO_ROOT, parameters, arguments)

/* Parameters for sending and receiving: as much for each rank, or as much as an array says. */
#define SENT const void *sent, mqr_count send_count, MPI_Datatype send_type
#define SENT_EACH const void *sent, const mqr_count send_counts[], const mqr_displacement send_at[]
#define RECEIVED void *received, mqr_count receive_count, MPI_Datatype receive_type
#define RECEIVED_EACH                                                                              \
  void *received, const mqr_count receive_counts[], const mqr_displacement receive_at[]
#define SENT_ARGUMENTS sent, send_count, send_type
#define SENT_EACH_ARGUMENTS sent, send_counts, send_at
#define RECEIVED_ARGUMENTS received, receive_count, receive_type
#define RECEIVED_EACH_ARGUMENTS received, receive_counts, receive_at
#define AT_ROOT int root, MPI_Comm comm
#define REDUCED MPI_Datatype type, MPI_Op op

#ifndef MQR_LARGE
ROOTLESS(Barrier, Ibarrier, (MPI_Comm comm), (comm))
#endif
ROOTED(Bcast, Ibcast, (void* buffer, mqr_count count, MPI_Datatype type, AT_ROOT),
       (buffer, count, type, root, comm))
ROOTED(Gather, Igather, (SENT, RECEIVED, AT_ROOT), (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, root, comm))
ROOTED(Gatherv, Igatherv, (SENT, RECEIVED_EACH, MPI_Datatype receive_type, AT_ROOT),
       (SENT_ARGUMENTS, RECEIVED_EACH_ARGUMENTS, receive_type, root, comm))
ROOTED(Scatter, Iscatter, (SENT, RECEIVED, AT_ROOT),
       (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, root, comm))
ROOTED(Scatterv, Iscatterv, (SENT_EACH, MPI_Datatype send_type, RECEIVED, AT_ROOT),
       (SENT_EACH_ARGUMENTS, send_type, RECEIVED_ARGUMENTS, root, comm))
ROOTLESS(Allgather, Iallgather, (SENT, RECEIVED, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, comm))
ROOTLESS(Allgatherv, Iallgatherv, (SENT, RECEIVED_EACH, MPI_Datatype receive_type, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_EACH_ARGUMENTS, receive_type, comm))
ROOTLESS(Alltoall, Ialltoall, (SENT, RECEIVED, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, comm))
ROOTLESS(Alltoallv, Ialltoallv,
         (SENT_EACH, MPI_Datatype send_type, RECEIVED_EACH, MPI_Datatype receive_type,
          MPI_Comm comm),
         (SENT_EACH_ARGUMENTS, send_type, RECEIVED_EACH_ARGUMENTS, receive_type, comm))
ROOTLESS(Alltoallw, Ialltoallw,
         (SENT_EACH, const MPI_Datatype send_types[], RECEIVED_EACH,
          const MPI_Datatype receive_types[], MPI_Comm comm),
         (SENT_EACH_ARGUMENTS, send_types, RECEIVED_EACH_ARGUMENTS, receive_types, comm))
ROOTED(Reduce, Ireduce, (const void* sent, void* received, mqr_count count, REDUCED, AT_ROOT),
       (sent, received, count, type, op, root, comm))
ROOTLESS(Allreduce, Iallreduce,
         (const void* sent, void* received, mqr_count count, REDUCED, MPI_Comm comm),
         (sent, received, count, type, op, comm))
ROOTLESS(Reduce_scatter, Ireduce_scatter,
         (const void* sent, void* received, const mqr_count counts[], REDUCED, MPI_Comm comm),
         (sent, received, counts, type, op, comm))
ROOTLESS(Reduce_scatter_block, Ireduce_scatter_block,
         (const void* sent, void* received, mqr_count count, REDUCED, MPI_Comm comm),
         (sent, received, count, type, op, comm))
ROOTLESS(Scan, Iscan, (const void* sent, void* received, mqr_count count, REDUCED, MPI_Comm comm),
         (sent, received, count, type, op, comm))
ROOTLESS(Exscan, Iexscan,
         (const void* sent, void* received, mqr_count count, REDUCED, MPI_Comm comm),
         (sent, received, count, type, op, comm))
ROOTLESS(Neighbor_allgather, Ineighbor_allgather, (SENT, RECEIVED, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, comm))
ROOTLESS(Neighbor_allgatherv, Ineighbor_allgatherv,
         (SENT, RECEIVED_EACH, MPI_Datatype receive_type, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_EACH_ARGUMENTS, receive_type, comm))
ROOTLESS(Neighbor_alltoall, Ineighbor_alltoall, (SENT, RECEIVED, MPI_Comm comm),
         (SENT_ARGUMENTS, RECEIVED_ARGUMENTS, comm))
ROOTLESS(Neighbor_alltoallv, Ineighbor_alltoallv,
         (SENT_EACH, MPI_Datatype send_type, RECEIVED_EACH, MPI_Datatype receive_type,
          MPI_Comm comm),
         (SENT_EACH_ARGUMENTS, send_type, RECEIVED_EACH_ARGUMENTS, receive_type, comm))
ROOTLESS(Neighbor_alltoallw, Ineighbor_alltoallw,
         (const void* sent, const mqr_count send_counts[], const MPI_Aint send_at[],
          const MPI_Datatype send_types[], void* received, const mqr_count receive_counts[],
          const MPI_Aint receive_at[], const MPI_Datatype receive_types[], MPI_Comm comm),
         (SENT_EACH_ARGUMENTS, send_types, RECEIVED_EACH_ARGUMENTS, receive_types, comm))
