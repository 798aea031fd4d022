/* The receiving of messages that MPI_Mprobe or MPI_Improbe took. */

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/message.h"

/* Whether the message is received. One that is too long is, whatever MPI does with its handle. */
static int is_received(int result) {
  int class = result;
  return result == MPI_SUCCESS ||
         (mqr_mpi.Error_class(result, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

MQR_RECORDED(Mrecv,
             (void* buffer, mqr_count count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status),
             (buffer, count, type, message, status))
static int record_Mrecv(const struct mqr_call* call, void* buffer, mqr_count count,
                        MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  const MPI_Message before = *message;
  struct mqr_recorded_operation* const operation = mqr_request_take(MQR_HANDLE(before));
  mqr_enter_plain(call, MQR_Mrecv);
  mqr_wait_for_one(operation);
  const int result = MQR_NEXT(Mrecv)(buffer, count, type, message, status);
  mqr_leave();
  if (operation != NULL && *message == before && !is_received(result))
    mqr_request_add(MQR_HANDLE(before), operation);
  else
    mqr_operation_remove(operation);
  return result;
}

/* The message stays listed, as taken, until its request is complete. */
MQR_RECORDED(Imrecv,
             (void* buffer, mqr_count count, MPI_Datatype type, MPI_Message* message,
              MPI_Request* request),
             (buffer, count, type, message, request))
static int record_Imrecv(const struct mqr_call* call, void* buffer, mqr_count count,
                         MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const MPI_Message before = *message;
  struct mqr_recorded_operation* const operation = mqr_request_take(MQR_HANDLE(before));
  mqr_enter_plain(call, MQR_Imrecv);
  const int result = MQR_NEXT(Imrecv)(buffer, count, type, message, request);
  if (operation != NULL)
    mqr_request_add(result == MPI_SUCCESS ? MQR_HANDLE(*request) : MQR_HANDLE(before), operation);
  if (result == MPI_SUCCESS)
    mqr_operation_mark(operation, MQR_IS_RECEIVING);
  mqr_leave();
  return result;
}
