/* The recorder sees what the program asks for. It only knows that a request is complete if MPI has
 * said so, or if nobody but the program can complete it. */

#include "dll/handles/recorder/recording.h"

#include <stdio.h>
#include <string.h>

static void know(struct mpidbg_request_description* more, uint32_t bits) {
  more->known |= bits;
}

static void add_call(uint32_t function, struct mpidbg_request_description* more) {
  const char* const name = mqr_function_name(function);
  if (name != NULL)
    snprintf(more->call, sizeof more->call, "%s", name);
}

static void add_state(uint32_t flags, int otherwise, struct mpidbg_request_description* more) {
  if ((flags & MQR_REQUEST_FREED) != 0)
    more->state = MPIDBG_STATE_FREED;
  else if ((flags & MQR_INACTIVE) != 0)
    more->state = MPIDBG_STATE_INACTIVE;
  else
    more->state = (flags & MQR_TOLD_COMPLETE) != 0 ? MPIDBG_STATE_COMPLETE : otherwise;
}

static void add_site(mqs_taddr_t site, struct mpidbg_request_description* more) {
  more->site = site;
  if (site != 0)
    know(more, MPIDBG_KNOWN_SITE);
}

static void add_message(const mqs_process_info* process, const unsigned char* bytes, uint32_t flags,
                        struct mpidbg_request_description* more) {
  more->kind = RECORDED(target_u32, bytes, mqr_node, kind) == MQR_SEND ? MPIDBG_REQUEST_SEND
                                                                       : MPIDBG_REQUEST_RECEIVE;
  more->peer = RECORDED(target_i32, bytes, mqr_operation, peer);
  more->tag =
      (flags & MQR_ANY_TAG) != 0 ? MPIDBG_ANY_TAG : RECORDED(target_i32, bytes, mqr_operation, tag);
  know(more, MPIDBG_KNOWN_PEER | MPIDBG_KNOWN_TAG);
  if ((flags & MQR_TAKEN) != 0) { /* MPI_Imrecv's arguments were not noted */
    snprintf(more->call, sizeof more->call, "MPI_Imrecv");
    return;
  }
  add_call(flags >> MQR_FUNCTION_SHIFT, more);
  add_site(RECORDED(target_u64, bytes, mqr_operation, site), more);
  more->bytes = RECORDED(target_u64, bytes, mqr_operation, length);
  more->buffer = RECORDED(target_u64, bytes, mqr_operation, buffer);
  more->count = RECORDED(target_u64, bytes, mqr_operation, count);
  memcpy(more->datatype, bytes + offsetof(struct mqr_operation, datatype), MQR_WORD_SIZE - 1);
  know(more, MPIDBG_KNOWN_BYTES | MPIDBG_KNOWN_BUFFER);
  if (more->datatype[0] != '\0')
    know(more, MPIDBG_KNOWN_COUNT);
}

static void add_operation(const mqs_process_info* process, const unsigned char* bytes,
                          struct mpidbg_request_description* more) {
  const uint32_t flags = RECORDED(target_u32, bytes, mqr_operation, flags);
  add_message(process, bytes, flags, more);
  add_state(flags, MPIDBG_STATE_UNKNOWN, more);
}

static void add_collective(const mqs_process_info* process, const unsigned char* bytes,
                           struct mpidbg_request_description* more) {
  const uint32_t function = RECORDED(target_u32, bytes, mqr_collective, function);
  more->kind = function == MQR_Comm_idup ? MPIDBG_REQUEST_COMM : MPIDBG_REQUEST_COLLECTIVE;
  add_call(function, more);
  add_site(RECORDED(target_u64, bytes, mqr_collective, site), more);
  add_state(RECORDED(target_u32, bytes, mqr_collective, flags), MPIDBG_STATE_UNKNOWN, more);
}

static int is_a_send(uint32_t function) {
  return (function >= MQR_Isend && function <= MQR_Irsend) ||
         (function >= MQR_Send_init && function <= MQR_Rsend_init);
}

static int kind_of(uint32_t function) {
  if (is_a_send(function) || function == MQR_Psend_init)
    return MPIDBG_REQUEST_SEND;
  if (function == MQR_Irecv || function == MQR_Recv_init || function == MQR_Precv_init)
    return MPIDBG_REQUEST_RECEIVE;
  if (function >= MQR_Barrier_init && function <= MQR_Neighbor_alltoallw_init)
    return MPIDBG_REQUEST_COLLECTIVE;
  if (function == MQR_Grequest_start)
    return MPIDBG_REQUEST_GENERALIZED;
  if (function >= MQR_Rput && function <= MQR_Rget_accumulate)
    return MPIDBG_REQUEST_RMA;
  if (function >= MQR_File_iread && function <= MQR_File_iwrite_shared)
    return MPIDBG_REQUEST_IO;
  return MPIDBG_REQUEST_UNKNOWN;
}

/* Whether it is a message to or from MPI_PROC_NULL. */
static int is_of_nobody(uint32_t function) {
  return function <= MQR_Recv_init;
}

static int state_of(uint32_t function) {
  if (is_of_nobody(function))
    return MPIDBG_STATE_COMPLETE; /* there is nobody to wait for */
  if (function == MQR_Grequest_start)
    return MPIDBG_STATE_ACTIVE; /* the program has not called MPI_Grequest_complete */
  return MPIDBG_STATE_UNKNOWN;
}

static void add_unqueued(const mqs_process_info* process, const unsigned char* bytes,
                         struct mpidbg_request_description* more) {
  const uint32_t function = RECORDED(target_u32, bytes, mqr_unqueued, function);
  const uint32_t flags = RECORDED(target_u32, bytes, mqr_unqueued, flags);
  more->kind = kind_of(function);
  add_call(function, more);
  add_site(RECORDED(target_u64, bytes, mqr_unqueued, site), more);
  add_state(flags, state_of(function), more);
  if (!is_of_nobody(function))
    return;
  more->peer = MPIDBG_PROC_NULL;
  more->tag =
      (flags & MQR_ANY_TAG) != 0 ? MPIDBG_ANY_TAG : RECORDED(target_i32, bytes, mqr_unqueued, tag);
  more->buffer = RECORDED(target_u64, bytes, mqr_unqueued, buffer);
  more->count = RECORDED(target_u64, bytes, mqr_unqueued, count);
  more->bytes = RECORDED(target_u64, bytes, mqr_unqueued, length);
  memcpy(more->datatype, bytes + offsetof(struct mqr_unqueued, datatype), MQR_WORD_SIZE - 1);
  know(more, MPIDBG_KNOWN_PEER | MPIDBG_KNOWN_TAG | MPIDBG_KNOWN_BUFFER | MPIDBG_KNOWN_COUNT |
                 MPIDBG_KNOWN_BYTES);
}

/* Adds the values that requests of all kinds have. */
static void add_common(const mqs_process_info* process, const struct recording* recording,
                       const struct recorded_request* request,
                       struct mpidbg_request_description* more) {
  more->comm = recording_comm_handle(recording, request->comm);
  more->persistent = (request->flags & MQR_PERSISTENT) != 0;
  more->cancelled = (request->flags & MQR_CANCELLED) != 0;
  know(more, MPIDBG_KNOWN_PERSISTENT | MPIDBG_KNOWN_CANCELLED);
  if (more->comm != 0)
    know(more, MPIDBG_KNOWN_COMM);
  if ((recording_flags(process, recording) & MQR_FORTRAN_IS_C) != 0) {
    more->fortran_handle = (int32_t)(uint32_t)request->handle;
    know(more, MPIDBG_KNOWN_FORTRAN);
  } else if ((request->flags & MQR_HAS_FORTRAN) != 0) {
    more->fortran_handle = request->fortran;
    know(more, MPIDBG_KNOWN_FORTRAN);
  }
}

static void add_null(const mqs_process_info* process, const struct recording* recording,
                     struct mpidbg_request_description* more) {
  more->kind = MPIDBG_REQUEST_NULL;
  more->fortran_handle =
      recording_null(process, recording, offsetof(struct mqr_handles, request_null_fortran));
  know(more, MPIDBG_KNOWN_FORTRAN);
}

/* Answers for requests that MPI has made itself. */
static int add_constant(const mqs_process_info* process, const struct recording* recording,
                        struct request_answer* answer) {
  const mqs_taddr_t handle = answer->more.handle;
  const mqs_taddr_t complete =
      recording_constant(process, recording, offsetof(struct mqr_handles, complete_request));
  if (handle == recording_constant(process, recording, offsetof(struct mqr_handles, request_null)))
    add_null(process, recording, &answer->more);
  else if (complete != 0 && handle == complete)
    answer->more.state = MPIDBG_STATE_COMPLETE;
  else
    return 0;
  answer->flags = MPIDBG_REQUEST_INFO_PREDEFINED;
  return 1;
}

int recorder_request(const mqs_process_info* process, void* state, struct request_answer* answer) {
  static void (*const add[])(const mqs_process_info*, const unsigned char*,
                             struct mpidbg_request_description*) = {add_operation, add_collective,
                                                                    add_unqueued};
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (add_constant(process, recording, answer))
    return MPIDBG_SUCCESS;
  const struct recorded_request* request = NULL;
  const int found = recording_request(recording, answer->more.handle, &request);
  const int unseen = (recording_flags(process, recording) & MQR_UNSEEN_REQUESTS) != 0;
  if (found != MPIDBG_SUCCESS)
    return unseen ? MPIDBG_ERR_UNAVAILABLE : found;
  /* If the recorder missed a wait, the request's record stays, and MPI may have given the handle to
   * another request. */
  if ((recording->root.flags & MQR_GAPS) != 0)
    return MPIDBG_ERR_UNAVAILABLE;
  const size_t sizes[] = {recording->root.operation_size, recording->collective_size,
                          recording->unqueued_size};
  unsigned char bytes[sizeof(struct mqr_operation)] = {0};
  if (!handles_fetch(process, request->address, sizes[request->holder], bytes))
    return MPIDBG_ERR_UNAVAILABLE;
  add[request->holder](process, bytes, &answer->more);
  add_common(process, recording, request, &answer->more);
  return MPIDBG_SUCCESS;
}
