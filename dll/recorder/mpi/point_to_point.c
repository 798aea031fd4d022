/* Sends and receives: blocking, nonblocking, and the making of persistent ones. */

#include "dll/recorder/mpi/message.h"

#define SEND_PARAMETERS                                                                            \
  const void *buffer, mqr_count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define RECEIVE_PARAMETERS                                                                         \
  void *buffer, mqr_count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define ARGUMENTS buffer, count, type, peer, tag, comm

/* A message whose values come from parameters with these names. */
#define MESSAGE(name, kind, some_flags)                                                            \
  {                                                                                                \
    .function = MQR_##name, .queue = kind, .flags = some_flags, .buffer = buffer, .count = count,  \
    .type = type, .peer = peer, .tag = tag, .comm = comm                                           \
  }

#define BLOCKING_SEND(name, mode)                                                                  \
  MQR_RECORDED(name, (SEND_PARAMETERS), (ARGUMENTS))                                               \
  static int record_##name(const struct mqr_call* call, SEND_PARAMETERS) {                         \
    const struct mqr_message message = MESSAGE(name, MQR_SEND, MQR_BLOCKING | (mode));             \
    mqr_enter_message(call, MQR_##name, comm);                                                     \
    struct mqr_recorded_operation* const begun = mqr_begin_message(call, &message);                \
    mqr_wait_for_one(begun);                                                                       \
    const int result = MQR_NEXT(name)(ARGUMENTS);                                                  \
    mqr_leave();                                                                                   \
    mqr_end_send(begun, result);                                                                   \
    return result;                                                                                 \
  }
BLOCKING_SEND(Send, 0U)
BLOCKING_SEND(Bsend, MQR_BUFFERED)
BLOCKING_SEND(Ssend, MQR_SYNCHRONOUS)
BLOCKING_SEND(Rsend, MQR_READY)

#define POSTING(name, kind, mode, parameters)                                                      \
  MQR_RECORDED(name, (MQR_UNPACK parameters, MPI_Request * request), (ARGUMENTS, request))         \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters,                     \
                           MPI_Request* request) {                                                 \
    const struct mqr_message message = MESSAGE(name, kind, mode);                                  \
    mqr_enter_message(call, MQR_##name, comm);                                                     \
    struct mqr_recorded_operation* const begun = mqr_begin_message(call, &message);                \
    const int result = MQR_NEXT(name)(ARGUMENTS, request);                                         \
    mqr_posted(call, &message, begun, result, request);                                            \
    mqr_leave();                                                                                   \
    return result;                                                                                 \
  }
POSTING(Isend, MQR_SEND, 0U, (SEND_PARAMETERS))
POSTING(Ibsend, MQR_SEND, MQR_BUFFERED, (SEND_PARAMETERS))
POSTING(Issend, MQR_SEND, MQR_SYNCHRONOUS, (SEND_PARAMETERS))
POSTING(Irsend, MQR_SEND, MQR_READY, (SEND_PARAMETERS))
POSTING(Irecv, MQR_RECEIVE, 0U, (RECEIVE_PARAMETERS))
POSTING(Send_init, MQR_SEND, MQR_INACTIVE, (SEND_PARAMETERS))
POSTING(Bsend_init, MQR_SEND, MQR_INACTIVE | MQR_BUFFERED, (SEND_PARAMETERS))
POSTING(Ssend_init, MQR_SEND, MQR_INACTIVE | MQR_SYNCHRONOUS, (SEND_PARAMETERS))
POSTING(Rsend_init, MQR_SEND, MQR_INACTIVE | MQR_READY, (SEND_PARAMETERS))
POSTING(Recv_init, MQR_RECEIVE, MQR_INACTIVE, (RECEIVE_PARAMETERS))

MQR_RECORDED(Recv, (RECEIVE_PARAMETERS, MPI_Status* status), (ARGUMENTS, status))
static int record_Recv(const struct mqr_call* call, RECEIVE_PARAMETERS, MPI_Status* status) {
  const struct mqr_message message = MESSAGE(Recv, MQR_RECEIVE, MQR_BLOCKING);
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  mqr_enter_message(call, MQR_Recv, comm);
  struct mqr_recorded_operation* const begun = mqr_begin_message(call, &message);
  mqr_wait_for_one(begun);
  const int result = MQR_NEXT(Recv)(ARGUMENTS, seen);
  mqr_leave();
  mqr_end_receive(begun, result, seen);
  return result;
}

#define BOTH_PARAMETERS                                                                            \
  const void *send_buffer, mqr_count send_count, MPI_Datatype send_type, int to, int send_tag,     \
      void *receive_buffer, mqr_count receive_count, MPI_Datatype receive_type, int from,          \
      int receive_tag, MPI_Comm comm, MPI_Status *status
#define BOTH_ARGUMENTS                                                                             \
  send_buffer, send_count, send_type, to, send_tag, receive_buffer, receive_count, receive_type,   \
      from, receive_tag, comm
#define REPLACE_ARGUMENTS buffer, count, type, to, send_tag, from, receive_tag, comm

/* The two halves of a call that sends and receives at once. */
struct halves {
  struct mqr_recorded_operation* operations[2];
};

static struct halves begin_both(const struct mqr_call* call, const struct mqr_message* sent,
                                const struct mqr_message* received) {
  mqr_enter_message(call, sent->function, sent->comm);
  const struct halves begun = {{mqr_begin_message(call, sent), mqr_begin_message(call, received)}};
  const uint32_t needed =
      (begun.operations[0] != NULL ? 1U : 0U) + (begun.operations[1] != NULL ? 1U : 0U);
  mqr_wait_for(begun.operations, 2, NULL, 0, needed, 0);
  return begun;
}

static void end_both(const struct halves* begun, int result, const MPI_Status* status) {
  mqr_leave();
  /* If the receive failed, the send most likely went. */
  mqr_send_end(begun->operations[0], result != MPI_SUCCESS && !mqr_took_message(result, status));
  mqr_end_receive(begun->operations[1], result, status);
}

MQR_RECORDED(Sendrecv, (BOTH_PARAMETERS), (BOTH_ARGUMENTS, status))
static int record_Sendrecv(const struct mqr_call* call, BOTH_PARAMETERS) {
  const struct mqr_message sent = {MQR_Sendrecv, MQR_SEND, MQR_BLOCKING, send_buffer, send_count,
                                   send_type,    to,       send_tag,     comm};
  const struct mqr_message received = {MQR_Sendrecv,   MQR_RECEIVE,   MQR_BLOCKING,
                                       receive_buffer, receive_count, receive_type,
                                       from,           receive_tag,   comm};
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  const struct halves begun = begin_both(call, &sent, &received);
  const int result = MQR_NEXT(Sendrecv)(BOTH_ARGUMENTS, seen);
  end_both(&begun, result, seen);
  return result;
}

MQR_RECORDED(Sendrecv_replace,
             (void* buffer, mqr_count count, MPI_Datatype type, int to, int send_tag, int from,
              int receive_tag, MPI_Comm comm, MPI_Status* status),
             (REPLACE_ARGUMENTS, status))
static int record_Sendrecv_replace(const struct mqr_call* call, void* buffer, mqr_count count,
                                   MPI_Datatype type, int to, int send_tag, int from,
                                   int receive_tag, MPI_Comm comm, MPI_Status* status) {
  const struct mqr_message sent = {
      MQR_Sendrecv_replace, MQR_SEND, MQR_BLOCKING, buffer, count, type, to, send_tag, comm};
  const struct mqr_message received = {
      MQR_Sendrecv_replace, MQR_RECEIVE, MQR_BLOCKING, buffer, count, type, from,
      receive_tag,          comm};
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  const struct halves begun = begin_both(call, &sent, &received);
  const int result = MQR_NEXT(Sendrecv_replace)(REPLACE_ARGUMENTS, seen);
  end_both(&begun, result, seen);
  return result;
}
