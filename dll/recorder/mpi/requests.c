/* Calls that do something else with requests than wait for them. */

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/message.h"

/* Sets a persistent request that is in no queue active or inactive. */
static void activate(MPI_Request request, int active) {
  struct mqr_recorded_unqueued* const unqueued = mqr_unqueued_take(MQR_HANDLE(request));
  mqr_unqueued_activate(unqueued, active);
  mqr_unqueued_put_back(unqueued);
}

/* Records a start before MPI makes it: a message is counted before its receiver can have it. */
static void start(MPI_Request request) {
  struct mqr_recorded_operation* const operation = mqr_request_find(MQR_HANDLE(request));
  if (operation != NULL)
    mqr_operation_start(operation);
  else
    activate(request, 1);
}

/* Takes a start back that MPI has refused. */
static void unstart(MPI_Request request) {
  struct mqr_recorded_operation* const operation = mqr_request_find(MQR_HANDLE(request));
  if (operation == NULL)
    activate(request, 0);
  else if (mqr_operation_queue(operation) == MQR_SEND)
    mqr_send_end(operation, 1);
  else
    mqr_receive_end(operation, MPI_PROC_NULL, 0, 1);
}

MQR_RECORDED(Start, (MPI_Request * request), (request))
static int record_Start(const struct mqr_call* call, MPI_Request* request) {
  const MPI_Request before = *request;
  mqr_enter_plain(call, MQR_Start);
  start(before);
  const int result = MQR_NEXT(Start)(request);
  if (result != MPI_SUCCESS)
    unstart(before);
  mqr_leave();
  return result;
}

MQR_RECORDED(Startall, (int count, MPI_Request requests[]), (count, requests))
static int record_Startall(const struct mqr_call* call, int count, MPI_Request requests[]) {
  mqr_enter_plain(call, MQR_Startall);
  for (int i = 0; i < count; ++i)
    start(requests[i]);
  const int result = MQR_NEXT(Startall)(count, requests);
  if (result != MPI_SUCCESS)
    mqr_note_gap(); /* MPI may have started some of them */
  mqr_leave();
  return result;
}

MQR_RECORDED(Cancel, (MPI_Request * request), (request))
static int record_Cancel(const struct mqr_call* call, MPI_Request* request) {
  __atomic_store_n(&mqr_cancels, 1, __ATOMIC_RELAXED);
  mqr_enter_plain(call, MQR_Cancel);
  const int result = MQR_NEXT(Cancel)(request);
  if (result == MPI_SUCCESS)
    mqr_request_mark(MQR_HANDLE(*request), MQR_CANCELLED);
  mqr_leave();
  return result;
}

/* Lets a freed request go: MPI goes on with it if it is active, and nobody will hear of it again. A
 * send has gone to MPI. A receive that is not complete yet stays listed as pending, and its message
 * is never counted as received, so that the two agree. */
static void let_go(struct mqr_recorded_operation* operation, int complete,
                   const MPI_Status* status) {
  const int active = mqr_operation_is_active(operation);
  const int persistent = mqr_operation_is_persistent(operation);
  const int sends = mqr_operation_queue(operation) == MQR_SEND;
  if (active && sends)
    mqr_send_end(operation, 0);
  else if (active && complete)
    mqr_receive_end(operation, status->MPI_SOURCE, status->MPI_TAG, status->MPI_SOURCE < 0);
  if (!active || (persistent && (sends || complete)))
    mqr_operation_remove(operation);
  else if (!sends && !complete)
    mqr_operation_free_request(operation);
}

MQR_RECORDED(Request_free, (MPI_Request * request), (request))
static int record_Request_free(const struct mqr_call* call, MPI_Request* request) {
  const MPI_Request before = *request;
  struct mqr_recorded_operation* const operation =
      before != MPI_REQUEST_NULL ? mqr_request_take(MQR_HANDLE(before)) : NULL;
  struct mqr_recorded_collective* const collective = operation == NULL && before != MPI_REQUEST_NULL
                                                         ? mqr_collective_take(MQR_HANDLE(before))
                                                         : NULL;
  struct mqr_recorded_unqueued* const unqueued =
      operation == NULL && collective == NULL ? mqr_unqueued_take(MQR_HANDLE(before)) : NULL;
  MPI_Status status;
  int complete = 0;
  mqr_enter_plain(call, MQR_Request_free);
  if (operation != NULL && mqr_operation_queue(operation) != MQR_SEND)
    mqr_mpi.Request_get_status(before, &complete, &status);
  const int result = MQR_NEXT(Request_free)(request);
  if (result != MPI_SUCCESS && operation != NULL)
    mqr_request_add(MQR_HANDLE(before), operation);
  else if (result != MPI_SUCCESS && collective != NULL)
    mqr_collective_put_back(collective);
  else if (result != MPI_SUCCESS)
    mqr_unqueued_put_back(unqueued);
  else if (operation != NULL)
    let_go(operation, complete, &status);
  else if (collective != NULL)
    mqr_collective_free_request(collective);
  else
    mqr_unqueued_free(unqueued);
  mqr_leave();
  return result;
}

/* The program learns that the request is complete, and still has it. */
MQR_RECORDED(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status),
             (request, flag, status))
static int record_Request_get_status(const struct mqr_call* call, MPI_Request request, int* flag,
                                     MPI_Status* status) {
  mqr_enter_plain(call, MQR_Request_get_status);
  const int result = MQR_NEXT(Request_get_status)(request, flag, status);
  if (result == MPI_SUCCESS && *flag)
    mqr_request_mark(MQR_HANDLE(request), MQR_TOLD_COMPLETE);
  mqr_leave();
  return result;
}

/* This call waits for the messages of MPI_Bsend calls that have returned long ago. */
MQR_RECORDED(Buffer_detach, (void* buffer, int* size), (buffer, size))
static int record_Buffer_detach(const struct mqr_call* call, void* buffer, int* size) {
  mqr_enter_plain(call, MQR_Buffer_detach);
  const int result = MQR_NEXT(Buffer_detach)(buffer, size);
  mqr_leave();
  return result;
}
