/* Functions newer than MPI 3.1 that send or receive messages. The layout only has their requests.
 */

#include "dll/recorder/mpi/message.h"

#if MPI_VERSION >= 4
/* Readers are told that counts say nothing any more. */
#define UNRECORDED(name, function, parameters, arguments)                                          \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    mqr_note_gap();                                                                                \
    const int result = MQR_NEXT(name) arguments;                                                   \
    mqr_posted_unqueued(call, function, 0, comm, result, request);                                 \
    return result;                                                                                 \
  }
#define EXCHANGE(name, count)                                                                      \
  UNRECORDED(name, MQR_Isendrecv,                                                                  \
             (const void* sent, count send_count, MPI_Datatype send_type, int to, int send_tag,    \
              void* received, count receive_count, MPI_Datatype receive_type, int from,            \
              int receive_tag, MPI_Comm comm, MPI_Request* request),                               \
             (sent, send_count, send_type, to, send_tag, received, receive_count, receive_type,    \
              from, receive_tag, comm, request))
#define REPLACEMENT(name, count)                                                                   \
  UNRECORDED(name, MQR_Isendrecv_replace,                                                          \
             (void* buffer, count elements, MPI_Datatype type, int to, int send_tag, int from,     \
              int receive_tag, MPI_Comm comm, MPI_Request* request),                               \
             (buffer, elements, type, to, send_tag, from, receive_tag, comm, request))
EXCHANGE(Isendrecv, int)
EXCHANGE(Isendrecv_c, MPI_Count)
REPLACEMENT(Isendrecv_replace, int)
REPLACEMENT(Isendrecv_replace_c, MPI_Count)

/* Partitioned messages match no others: counts are as they were. */
#define PARTITIONED(name, buffer_type)                                                             \
  MQR_RECORDED(name,                                                                               \
               (buffer_type buffer, int parts, MPI_Count count, MPI_Datatype type, int peer,       \
                int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request),                      \
               (buffer, parts, count, type, peer, tag, comm, info, request))                       \
  static int record_##name(const struct mqr_call* call, buffer_type buffer, int parts,             \
                           MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,   \
                           MPI_Info info, MPI_Request* request) {                                  \
    const int result = MQR_NEXT(name)(buffer, parts, count, type, peer, tag, comm, info, request); \
    mqr_posted_unqueued(call, MQR_##name, MQR_INACTIVE, comm, result, request);                    \
    return result;                                                                                 \
  }
PARTITIONED(Psend_init, const void*)
PARTITIONED(Precv_init, void*)
#endif
