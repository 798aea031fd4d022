#ifndef MQBRIDGE_DLL_RECORDER_MPI_MESSAGE_H
#define MQBRIDGE_DLL_RECORDER_MPI_MESSAGE_H

/* What the files of point-to-point operations share. */

#include "dll/recorder/mpi/call.h"
#include "dll/recorder/mpi/communicator.h"

/* A send or receive as the program asks for it. */
struct mqr_message {
  enum mqr_function function;
  enum mqr_queue queue;
  uint32_t flags; /* enum mqr_operation_flags */
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
  MPI_Comm comm;
};

/* Lists it. NULL: MPI_PROC_NULL, or it is not recorded. */
struct mqr_recorded_operation* mqr_begin_message(const struct mqr_call* call,
                                                 const struct mqr_message* message);
void mqr_enter_message(const struct mqr_call* call, enum mqr_function function, MPI_Comm comm);
/* The same on a communicator that may be MQR_INTERNAL; NULL: it is not known. */
void mqr_enter_on(const struct mqr_call* call, enum mqr_function function,
                  const struct mqr_comm* comm);
/* This thread waits for it, if it is there. */
void mqr_wait_for_one(struct mqr_recorded_operation* operation);

/* A blocking call has returned `result`. */
void mqr_end_send(struct mqr_recorded_operation* operation, int result);
/* `status` is never an ignored one. */
void mqr_end_receive(struct mqr_recorded_operation* operation, int result,
                     const MPI_Status* status);
/* The receive, or the message that MPI_Mprobe took, that ended in an error: did it take a message?
 */
int mqr_took_message(int result, const MPI_Status* status);

/* A call that returns a request has returned `result`. `operation` is what mqr_begin_message() made
 * of the message. */
void mqr_posted(const struct mqr_call* call, const struct mqr_message* message,
                struct mqr_recorded_operation* operation, int result, const MPI_Request* request);

/* The same of a request that is in no queue. `flags`: MQR_INACTIVE or 0; `comm` may be
 * MPI_COMM_NULL. */
void mqr_posted_unqueued(const struct mqr_call* call, enum mqr_function function, uint32_t flags,
                         MPI_Comm comm, int result, const MPI_Request* request);

/* Handles that MPI gives to several requests, each complete from the start. */
void mqr_learn_shared_requests(void);
int mqr_is_shared_request(MPI_Request request);
/* One of them, as a reader is told; NULL: there is none. */
const void* mqr_shared_request(void);

/* The status to pass on: the caller's own, where the program ignores it. */
static inline MPI_Status* mqr_status_or(MPI_Status* status, MPI_Status* own) {
  return status == MPI_STATUS_IGNORE ? own : status;
}

/* Whether the program has ever called MPI_Cancel. */
extern int mqr_cancels;

#endif
