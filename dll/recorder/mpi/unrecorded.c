/* Functions newer than MPI 3.1 that send or receive messages, of which the layout knows nothing:
 * readers are told that counts say nothing any more. */

#include "dll/recorder/mpi/call.h"

#if MPI_VERSION >= 4
#define UNRECORDED(name, parameters, arguments)                                                    \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    mqr_note_gap();                                                                                \
    return MQR_NEXT(name) arguments;                                                               \
  }
#define EXCHANGE(name, count)                                                                      \
  UNRECORDED(name,                                                                                 \
             (const void* sent, count send_count, MPI_Datatype send_type, int to, int send_tag,    \
              void* received, count receive_count, MPI_Datatype receive_type, int from,            \
              int receive_tag, MPI_Comm comm, MPI_Request* request),                               \
             (sent, send_count, send_type, to, send_tag, received, receive_count, receive_type,    \
              from, receive_tag, comm, request))
#define REPLACEMENT(name, count)                                                                   \
  UNRECORDED(name,                                                                                 \
             (void* buffer, count elements, MPI_Datatype type, int to, int send_tag, int from,     \
              int receive_tag, MPI_Comm comm, MPI_Request* request),                               \
             (buffer, elements, type, to, send_tag, from, receive_tag, comm, request))
EXCHANGE(Isendrecv, int)
EXCHANGE(Isendrecv_c, MPI_Count)
REPLACEMENT(Isendrecv_replace, int)
REPLACEMENT(Isendrecv_replace_c, MPI_Count)
#endif
