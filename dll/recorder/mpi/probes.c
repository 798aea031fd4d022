/* Messages that are looked at, or taken, before they are received. */

#include "dll/recorder/mpi/message.h"

static uint64_t bytes_of(const MPI_Status* status) {
  int bytes = 0;
  return mqr_mpi.Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0 ? (uint64_t)bytes
                                                                                 : 0;
}

/* Records a message that MPI_Mprobe or MPI_Improbe took: nobody else can receive it any more. */
static void taken(const struct mqr_call* call, enum mqr_function function, MPI_Comm handle,
                  MPI_Message message, const MPI_Status* status) {
  const struct mqr_comm* const comm = mqr_comm_of(handle);
  if (comm == NULL || message == MPI_MESSAGE_NO_PROC)
    return;
  const struct mqr_operation_spec spec = {.queue = MQR_UNEXPECTED,
                                          .function = function,
                                          .flags = MQR_TAKEN,
                                          .peer = status->MPI_SOURCE,
                                          .tag = status->MPI_TAG,
                                          .length = bytes_of(status),
                                          .site = call->site};
  struct mqr_recorded_operation* begun = NULL;
  mqr_operation_begin(comm->recorded, &spec, &begun);
  if (begun != NULL)
    mqr_request_add(MQR_HANDLE(message), begun);
}

static struct mqr_recorded_operation* begin(const struct mqr_call* call, enum mqr_function function,
                                            uint32_t flag, int peer, int tag, MPI_Comm comm) {
  const struct mqr_message message = {.function = function,
                                      .queue = MQR_RECEIVE,
                                      .flags = MQR_BLOCKING | flag,
                                      .peer = peer,
                                      .tag = tag,
                                      .comm = comm};
  mqr_enter_message(call, function, comm);
  struct mqr_recorded_operation* const begun = mqr_begin_message(call, &message);
  mqr_wait_for_one(begun);
  return begun;
}

MQR_RECORDED(Probe, (int peer, int tag, MPI_Comm comm, MPI_Status* status),
             (peer, tag, comm, status))
static int record_Probe(const struct mqr_call* call, int peer, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  struct mqr_recorded_operation* const begun = begin(call, MQR_Probe, MQR_PROBE, peer, tag, comm);
  const int result = MQR_NEXT(Probe)(peer, tag, comm, status);
  mqr_leave();
  mqr_operation_remove(begun);
  return result;
}

MQR_RECORDED(Mprobe, (int peer, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
             (peer, tag, comm, message, status))
static int record_Mprobe(const struct mqr_call* call, int peer, int tag, MPI_Comm comm,
                         MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  struct mqr_recorded_operation* const begun = begin(call, MQR_Mprobe, MQR_MPROBE, peer, tag, comm);
  const int result = MQR_NEXT(Mprobe)(peer, tag, comm, message, seen);
  mqr_leave();
  mqr_end_receive(begun, result, seen);
  if (result == MPI_SUCCESS)
    taken(call, MQR_Mprobe, comm, *message, seen);
  return result;
}

MQR_RECORDED(Iprobe, (int peer, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
             (peer, tag, comm, flag, status))
static int record_Iprobe(const struct mqr_call* call, int peer, int tag, MPI_Comm comm, int* flag,
                         MPI_Status* status) {
  mqr_enter_message(call, MQR_Iprobe, comm);
  const int result = MQR_NEXT(Iprobe)(peer, tag, comm, flag, status);
  mqr_leave();
  return result;
}

MQR_RECORDED(Improbe,
             (int peer, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
              MPI_Status* status),
             (peer, tag, comm, flag, message, status))
static int record_Improbe(const struct mqr_call* call, int peer, int tag, MPI_Comm comm, int* flag,
                          MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  mqr_enter_message(call, MQR_Improbe, comm);
  const int result = MQR_NEXT(Improbe)(peer, tag, comm, flag, message, seen);
  if (result == MPI_SUCCESS && *flag && *message != MPI_MESSAGE_NO_PROC) {
    const struct mqr_comm* const known = mqr_comm_of(comm);
    if (known != NULL)
      mqr_count_received(known->recorded, seen->MPI_SOURCE, seen->MPI_TAG);
    taken(call, MQR_Improbe, comm, *message, seen);
  }
  mqr_leave();
  return result;
}
