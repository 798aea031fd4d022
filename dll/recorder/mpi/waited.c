#include "dll/recorder/mpi/waited.h"

#include <stdlib.h>

/* All five arrays are in one piece of memory. */
static int place(struct mqr_waited* waited, size_t count) {
  struct mqr_waited_part* const few = &waited->few;
  if (count <= MQR_FEW) {
    waited->operations = few->operations;
    waited->collectives = few->collectives;
    waited->unqueued = few->unqueued;
    waited->handles = few->handles;
    waited->statuses = few->statuses;
    return 1;
  }
  waited->operations = malloc(count * (sizeof *waited->operations + sizeof *waited->collectives +
                                       sizeof *waited->unqueued + sizeof *waited->handles +
                                       sizeof *waited->statuses));
  waited->memory = waited->operations;
  if (waited->memory == NULL)
    return 0;
  waited->collectives = (struct mqr_recorded_collective**)(void*)(waited->operations + count);
  waited->unqueued = (struct mqr_recorded_unqueued**)(void*)(waited->collectives + count);
  waited->statuses = (MPI_Status*)(void*)(waited->unqueued + count);
  waited->handles = (MPI_Request*)(void*)(waited->statuses + count);
  return 1;
}

static void put_back(struct mqr_waited* waited, int i) {
  if (waited->operations[i] != NULL)
    mqr_request_add(MQR_HANDLE(waited->handles[i]), waited->operations[i]);
  else if (waited->collectives[i] != NULL)
    mqr_collective_put_back(waited->collectives[i]);
  else
    mqr_unqueued_put_back(waited->unqueued[i]);
  waited->operations[i] = NULL;
  waited->collectives[i] = NULL;
  waited->unqueued[i] = NULL;
}

/* The request is in no queue. Nobody knows whether it is complete, except for a message to or from
 * MPI_PROC_NULL. */
static void look_up_unqueued(struct mqr_waited* waited, int i, MPI_Request request) {
  struct mqr_recorded_unqueued* const unqueued = mqr_unqueued_take(MQR_HANDLE(request));
  waited->unqueued[i] = unqueued;
  waited->unseen +=
      !mqr_is_shared_request(request) && (unqueued == NULL || !mqr_unqueued_is_message(unqueued));
}

/* The records are taken: one handle may stand for several requests, and MPI may give it to another
 * thread before this one has settled the request that it stood for. */
static void look_up(struct mqr_waited* waited, int i, MPI_Request request) {
  waited->handles[i] = request;
  waited->operations[i] = NULL;
  waited->collectives[i] = NULL;
  waited->unqueued[i] = NULL;
  if (request == MPI_REQUEST_NULL)
    return;
  const void* const key = MQR_HANDLE(request);
  waited->operations[i] = mqr_request_take(key);
  if (waited->operations[i] == NULL)
    waited->collectives[i] = mqr_collective_take(key);
  struct mqr_recorded_operation* const operation = waited->operations[i];
  if (operation != NULL && !mqr_operation_is_active(operation))
    put_back(waited, i); /* MPI takes it for complete, and leaves it as it is */
  else if (operation != NULL || waited->collectives[i] != NULL)
    ++waited->seen;
  else
    look_up_unqueued(waited, i, request);
}

int mqr_waited_open(struct mqr_waited* waited, int count, const MPI_Request requests[]) {
  waited->count = 0;
  waited->seen = 0;
  waited->unseen = 0;
  waited->memory = NULL;
  if (count < 0)
    return 0;
  if (!place(waited, (size_t)count)) {
    mqr_note_gap();
    return 0;
  }
  for (int i = 0; i < count; ++i)
    look_up(waited, i, requests[i]);
  waited->count = count;
  return 1;
}

void mqr_waited_wait(const struct mqr_waited* waited, uint32_t needed) {
  const uint32_t all = waited->seen + waited->unseen;
  mqr_wait_for(waited->operations, (size_t)waited->count, waited->collectives,
               (size_t)waited->count, needed < all ? needed : all, waited->unseen);
}

static int was_cancelled(const MPI_Status* status) {
  int cancelled = 0;
  return mqr_cancels && mqr_mpi.Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled;
}

static void end(struct mqr_recorded_operation* operation, int result, const MPI_Status* status) {
  const int failed = result != MPI_SUCCESS;
  const int took = mqr_took_message(result, status);
  if (failed && !took)
    mqr_note_gap(); /* nobody knows whether its message has gone, or come */
  switch (mqr_operation_queue(operation)) {
  case MQR_SEND:
    mqr_send_end(operation, failed || was_cancelled(status));
    break;
  case MQR_RECEIVE:
    mqr_receive_end(operation, status->MPI_SOURCE, status->MPI_TAG, !took || was_cancelled(status));
    break;
  default:
    mqr_operation_remove(operation); /* of MPI_Imrecv */
  }
}

/* Whether the request is over: an error may leave it as it was. */
static int is_over(int result, MPI_Request request, int persistent) {
  int class = MPI_SUCCESS;
  if (result == MPI_SUCCESS)
    return 1;
  return mqr_mpi.Error_class(result, &class) == MPI_SUCCESS && class != MPI_ERR_PENDING &&
         (persistent || request == MPI_REQUEST_NULL);
}

/* Returns whether the request stays because it is persistent. */
static int settle_unqueued(struct mqr_recorded_unqueued* unqueued) {
  if (mqr_unqueued_is_persistent(unqueued)) {
    mqr_unqueued_activate(unqueued, 0);
    return 1;
  }
  mqr_unqueued_end(unqueued);
  return 0;
}

void mqr_waited_settle(struct mqr_waited* waited, int i, MPI_Request request, int result,
                       const MPI_Status* status) {
  struct mqr_recorded_operation* const operation = waited->operations[i];
  struct mqr_recorded_unqueued* const unqueued = waited->unqueued[i];
  const int persistent = (operation != NULL && mqr_operation_is_persistent(operation)) ||
                         (unqueued != NULL && mqr_unqueued_is_persistent(unqueued));
  if (!is_over(result, request, persistent)) {
    put_back(waited, i);
    return;
  }
  if (waited->collectives[i] != NULL) {
    mqr_collective_end(waited->collectives[i]);
    waited->collectives[i] = NULL;
  }
  if (unqueued != NULL && !settle_unqueued(unqueued))
    waited->unqueued[i] = NULL;
  if (operation == NULL)
    return;
  end(operation, result, status);
  if (persistent)
    put_back(waited, i);
  waited->operations[i] = NULL;
}

void mqr_waited_close(struct mqr_waited* waited) {
  for (int i = 0; i < waited->count; ++i)
    put_back(waited, i);
  free(waited->memory);
}
