/* MPI_Wait, MPI_Test and their like. */

#include "dll/recorder/mpi/waited.h"

/* MPI's result for one request of several. */
static int result_of(int result, const MPI_Status* status) {
  int class = result;
  if (result != MPI_SUCCESS && mqr_mpi.Error_class(result, &class) == MPI_SUCCESS &&
      class == MPI_ERR_IN_STATUS)
    return status->MPI_ERROR;
  return result;
}

static void settle_all(struct mqr_waited* waited, const MPI_Request requests[], int result,
                       const MPI_Status statuses[]) {
  for (int i = 0; i < waited->count; ++i)
    mqr_waited_settle(waited, i, requests[i], result_of(result, &statuses[i]), &statuses[i]);
}

static void settle_some(struct mqr_waited* waited, const MPI_Request requests[], int result,
                        int settled, const int indices[], const MPI_Status statuses[]) {
  int class = MPI_SUCCESS;
  if (result != MPI_SUCCESS)
    mqr_mpi.Error_class(result, &class);
  if (class == MPI_ERR_REQUEST || class == MPI_ERR_ARG || class == MPI_ERR_COUNT)
    return; /* MPI has refused the call, and written nothing */
  if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS) {
    mqr_note_gap(); /* nobody knows what MPI has written */
    return;
  }
  if (settled == MPI_UNDEFINED)
    return;
  for (int i = 0; i < settled && i < waited->count; ++i) {
    if (indices[i] >= 0 && indices[i] < waited->count)
      mqr_waited_settle(waited, indices[i], requests[indices[i]], result_of(result, &statuses[i]),
                        &statuses[i]);
  }
}

static void settle_any(struct mqr_waited* waited, const MPI_Request requests[], int result,
                       int index, const MPI_Status* status) {
  if (index >= 0 && index < waited->count)
    mqr_waited_settle(waited, index, requests[index], result, status);
}

static MPI_Status* statuses_or(MPI_Status statuses[], struct mqr_waited* waited) {
  return statuses == MPI_STATUSES_IGNORE ? waited->statuses : statuses;
}

MQR_RECORDED(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
static int record_Wait(const struct mqr_call* call, MPI_Request* request, MPI_Status* status) {
  struct mqr_waited waited;
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  mqr_waited_open(&waited, 1, request);
  mqr_enter_plain(call, MQR_Wait);
  mqr_waited_wait(&waited, 1);
  const int result = MQR_NEXT(Wait)(request, seen);
  mqr_leave();
  mqr_waited_settle(&waited, 0, *request, result, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
             (count, requests, statuses))
static int record_Waitall(const struct mqr_call* call, int count, MPI_Request requests[],
                          MPI_Status statuses[]) {
  struct mqr_waited waited;
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Waitall)(count, requests, statuses);
  MPI_Status* const seen = statuses_or(statuses, &waited);
  mqr_enter_plain(call, MQR_Waitall);
  mqr_waited_wait(&waited, (uint32_t)count);
  const int result = MQR_NEXT(Waitall)(count, requests, seen);
  mqr_leave();
  settle_all(&waited, requests, result, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status),
             (count, requests, index, status))
static int record_Waitany(const struct mqr_call* call, int count, MPI_Request requests[],
                          int* index, MPI_Status* status) {
  struct mqr_waited waited;
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Waitany)(count, requests, index, status);
  mqr_enter_plain(call, MQR_Waitany);
  mqr_waited_wait(&waited, 1);
  const int result = MQR_NEXT(Waitany)(count, requests, index, seen);
  mqr_leave();
  settle_any(&waited, requests, result, *index, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Waitsome,
             (int count, MPI_Request requests[], int* settled, int indices[],
              MPI_Status statuses[]),
             (count, requests, settled, indices, statuses))
static int record_Waitsome(const struct mqr_call* call, int count, MPI_Request requests[],
                           int* settled, int indices[], MPI_Status statuses[]) {
  struct mqr_waited waited;
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Waitsome)(count, requests, settled, indices, statuses);
  MPI_Status* const seen = statuses_or(statuses, &waited);
  mqr_enter_plain(call, MQR_Waitsome);
  mqr_waited_wait(&waited, 1);
  const int result = MQR_NEXT(Waitsome)(count, requests, settled, indices, seen);
  mqr_leave();
  settle_some(&waited, requests, result, *settled, indices, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
static int record_Test(const struct mqr_call* call, MPI_Request* request, int* flag,
                       MPI_Status* status) {
  struct mqr_waited waited;
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  mqr_waited_open(&waited, 1, request);
  mqr_enter_plain(call, MQR_Test);
  const int result = MQR_NEXT(Test)(request, flag, seen);
  mqr_leave();
  if (result != MPI_SUCCESS || *flag)
    mqr_waited_settle(&waited, 0, *request, result, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
             (count, requests, flag, statuses))
static int record_Testall(const struct mqr_call* call, int count, MPI_Request requests[], int* flag,
                          MPI_Status statuses[]) {
  struct mqr_waited waited;
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Testall)(count, requests, flag, statuses);
  MPI_Status* const seen = statuses_or(statuses, &waited);
  mqr_enter_plain(call, MQR_Testall);
  const int result = MQR_NEXT(Testall)(count, requests, flag, seen);
  mqr_leave();
  if (result != MPI_SUCCESS || *flag)
    settle_all(&waited, requests, result, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Testany,
             (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status),
             (count, requests, index, flag, status))
static int record_Testany(const struct mqr_call* call, int count, MPI_Request requests[],
                          int* index, int* flag, MPI_Status* status) {
  struct mqr_waited waited;
  MPI_Status own;
  MPI_Status* const seen = mqr_status_or(status, &own);
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Testany)(count, requests, index, flag, status);
  mqr_enter_plain(call, MQR_Testany);
  const int result = MQR_NEXT(Testany)(count, requests, index, flag, seen);
  mqr_leave();
  if (result != MPI_SUCCESS || *flag)
    settle_any(&waited, requests, result, *index, seen);
  mqr_waited_close(&waited);
  return result;
}

MQR_RECORDED(Testsome,
             (int count, MPI_Request requests[], int* settled, int indices[],
              MPI_Status statuses[]),
             (count, requests, settled, indices, statuses))
static int record_Testsome(const struct mqr_call* call, int count, MPI_Request requests[],
                           int* settled, int indices[], MPI_Status statuses[]) {
  struct mqr_waited waited;
  if (!mqr_waited_open(&waited, count, requests))
    return MQR_NEXT(Testsome)(count, requests, settled, indices, statuses);
  MPI_Status* const seen = statuses_or(statuses, &waited);
  mqr_enter_plain(call, MQR_Testsome);
  const int result = MQR_NEXT(Testsome)(count, requests, settled, indices, seen);
  mqr_leave();
  settle_some(&waited, requests, result, *settled, indices, seen);
  mqr_waited_close(&waited);
  return result;
}
