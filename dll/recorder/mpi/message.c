#include "dll/recorder/mpi/message.h"

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/datatype.h"

int mqr_cancels;

enum { most_shared = 4 };
static MPI_Request shared_requests[most_shared];
static int shared_count;

static void learn(MPI_Request request) {
  if (!mqr_is_shared_request(request) && shared_count < most_shared)
    shared_requests[shared_count++] = request;
}

/* Both sends are to nobody: no message goes anywhere. */
void mqr_learn_shared_requests(void) {
  MPI_Request first = MPI_REQUEST_NULL;
  MPI_Request second = MPI_REQUEST_NULL;
  shared_count = 0;
  if (mqr_mpi.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &first) != MPI_SUCCESS)
    return;
  if (mqr_mpi.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &second) == MPI_SUCCESS) {
    if (first == second && first != MPI_REQUEST_NULL)
      learn(first);
    mqr_mpi.Wait(&second, MPI_STATUS_IGNORE);
  }
  mqr_mpi.Wait(&first, MPI_STATUS_IGNORE);
}

int mqr_is_shared_request(MPI_Request request) {
  for (int i = 0; i < shared_count; ++i) {
    if (shared_requests[i] == request)
      return 1;
  }
  return 0;
}

const void* mqr_shared_request(void) {
  return shared_count > 0 ? MQR_HANDLE(shared_requests[0]) : NULL;
}

static int32_t layout_peer(int peer) {
  return peer == MPI_ANY_SOURCE ? MQR_ANY_SOURCE : peer;
}

struct mqr_recorded_operation* mqr_begin_message(const struct mqr_call* call,
                                                 const struct mqr_message* message) {
  const struct mqr_comm* const comm =
      message->peer == MPI_PROC_NULL ? NULL : mqr_comm_of(message->comm);
  if (comm == NULL)
    return NULL;
  const int any_tag = message->queue == MQR_RECEIVE && message->tag == MPI_ANY_TAG;
  struct mqr_operation_spec spec = {.queue = message->queue,
                                    .function = message->function,
                                    .flags = message->flags | (any_tag ? MQR_ANY_TAG : 0U),
                                    .peer = layout_peer(message->peer),
                                    .tag = any_tag ? 0 : message->tag,
                                    .buffer = message->buffer,
                                    .site = call->site};
  if ((message->flags & (MQR_PROBE | MQR_MPROBE)) == 0) {
    const struct mqr_type* const type = mqr_type_of(message->type);
    spec.count = message->count > 0 ? (uint64_t)message->count : 0;
    spec.length = spec.count * type->size;
    spec.datatype = &type->name;
  }
  struct mqr_recorded_operation* begun = NULL;
  mqr_operation_begin(comm->recorded, &spec, &begun);
  return begun;
}

void mqr_enter_message(const struct mqr_call* call, enum mqr_function function, MPI_Comm handle) {
  mqr_enter_on(call, function, mqr_comm_of(handle));
}

void mqr_enter_on(const struct mqr_call* call, enum mqr_function function,
                  const struct mqr_comm* comm) {
  const struct mqr_call_spec spec = {.function = function,
                                     .site = call->site,
                                     .communicator = comm != NULL ? comm->recorded : NULL,
                                     .root = MQR_NO_ROOT};
  mqr_enter(&spec);
  mqr_sample_in(function);
}

void mqr_wait_for_one(struct mqr_recorded_operation* operation) {
  if (operation != NULL)
    mqr_wait_for(&operation, 1, NULL, 0, 1, 0);
}

/* Nobody knows whether a send that failed has sent anything; mostly its arguments were wrong. */
void mqr_end_send(struct mqr_recorded_operation* operation, int result) {
  mqr_send_end(operation, result != MPI_SUCCESS);
}

int mqr_took_message(int result, const MPI_Status* status) {
  int class = result;
  if (result != MPI_SUCCESS && mqr_mpi.Error_class(result, &class) != MPI_SUCCESS)
    return 0;
  return (class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE) && status->MPI_SOURCE >= 0;
}

void mqr_end_receive(struct mqr_recorded_operation* operation, int result,
                     const MPI_Status* status) {
  mqr_receive_end(operation, status->MPI_SOURCE, status->MPI_TAG,
                  !mqr_took_message(result, status));
}

/* Whether MPI gave the handle of another request, which is not complete for the program: MPI gives
 * that handle to everything that is complete. */
static int is_complete_twin(const MPI_Request* request) {
  int complete = 0;
  return mqr_request_find(MQR_HANDLE(*request)) != NULL &&
         mqr_mpi.Request_get_status(*request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         complete;
}

/* Takes back an operation that has never begun. */
static void take_back(struct mqr_recorded_operation* operation) {
  if (mqr_operation_queue(operation) == MQR_SEND && mqr_operation_is_active(operation))
    mqr_send_end(operation, 1);
  else
    mqr_operation_remove(operation);
}

/* Records the request of a message that goes to nobody, or comes from nobody. */
static void post_unqueued(const struct mqr_call* call, const struct mqr_message* message,
                          MPI_Request request) {
  if (message->peer != MPI_PROC_NULL || request == MPI_REQUEST_NULL ||
      mqr_is_shared_request(request))
    return;
  const struct mqr_type* const type = mqr_type_of(message->type);
  const struct mqr_comm* const comm = mqr_comm_of(message->comm);
  const int any_tag = message->queue == MQR_RECEIVE && message->tag == MPI_ANY_TAG;
  const struct mqr_unqueued_spec spec = {
      .function = message->function,
      .flags = (message->flags & MQR_INACTIVE) | (any_tag ? MQR_ANY_TAG : 0U),
      .request = MQR_HANDLE(request),
      .communicator = comm != NULL ? comm->recorded : NULL,
      .site = call->site,
      .tag = any_tag ? 0 : message->tag,
      .buffer = message->buffer,
      .count = message->count > 0 ? (uint64_t)message->count : 0,
      .length = message->count > 0 ? (uint64_t)message->count * type->size : 0,
      .datatype = &type->name};
  mqr_unqueued_begin(&spec);
}

void mqr_posted_unqueued(const struct mqr_call* call, enum mqr_function function, uint32_t flags,
                         MPI_Comm handle, int result, const MPI_Request* request) {
  if (result != MPI_SUCCESS || *request == MPI_REQUEST_NULL || mqr_is_shared_request(*request))
    return;
  const struct mqr_comm* const comm = mqr_comm_of(handle);
  const struct mqr_unqueued_spec spec = {.function = function,
                                         .flags = flags,
                                         .request = MQR_HANDLE(*request),
                                         .communicator = comm != NULL ? comm->recorded : NULL,
                                         .site = call->site};
  mqr_unqueued_begin(&spec);
}

void mqr_posted(const struct mqr_call* call, const struct mqr_message* message,
                struct mqr_recorded_operation* operation, int result, const MPI_Request* request) {
  if (operation == NULL) {
    if (result == MPI_SUCCESS)
      post_unqueued(call, message, *request);
    return;
  }
  const int sends = mqr_operation_queue(operation) == MQR_SEND;
  if (result != MPI_SUCCESS)
    take_back(operation);
  else if (sends && (mqr_is_shared_request(*request) || is_complete_twin(request)))
    mqr_send_end(operation, 0);
  else
    mqr_request_add(MQR_HANDLE(*request), operation);
}
