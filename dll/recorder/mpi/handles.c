#include "dll/recorder/mpi/handles.h"

#include "dll/recorder/mpi/message.h"

static void describe_status(struct mqr_handles* constants) {
  constants->status_size = sizeof(MPI_Status);
  constants->status_source = offsetof(MPI_Status, MPI_SOURCE);
  constants->status_tag = offsetof(MPI_Status, MPI_TAG);
  constants->status_error = offsetof(MPI_Status, MPI_ERROR);
#if defined(OPEN_MPI)
  constants->status_kind = MQR_STATUS_OPENMPI;
  constants->status_bytes = offsetof(MPI_Status, _ucount);
  constants->status_cancelled = offsetof(MPI_Status, _cancelled);
#elif defined(MPICH)
  constants->status_kind = MQR_STATUS_MPICH;
  constants->status_bytes = offsetof(MPI_Status, count_lo);
#endif
}

/* The Fortran bindings set attributes and make error handlers without a call of the C functions. */
static uint32_t unseen_from_fortran(void) {
  return mqr_find_function("mpi_init_", NULL) != NULL
             ? MQR_UNSEEN_ATTRIBUTES | MQR_UNSEEN_ERRHANDLERS
             : 0U;
}

void mqr_open_handles(void) {
  struct mqr_handles constants = {
      .flags = unseen_from_fortran(),
      .comm_null.word = (uintptr_t)MQR_HANDLE(MPI_COMM_NULL),
      .request_null.word = (uintptr_t)MQR_HANDLE(MPI_REQUEST_NULL),
      .errhandler_null.word = (uintptr_t)MQR_HANDLE(MPI_ERRHANDLER_NULL),
      .status_ignore.word = (uintptr_t)MPI_STATUS_IGNORE,
      .statuses_ignore.word = (uintptr_t)MPI_STATUSES_IGNORE,
      .comm_null_fortran = MQR_C2F(Comm, MPI_COMM_NULL),
      .request_null_fortran = MQR_C2F(Request, MPI_REQUEST_NULL),
      .errhandler_null_fortran = MQR_C2F(Errhandler, MPI_ERRHANDLER_NULL),
      .complete_request.word = (uintptr_t)mqr_shared_request(),
  };
#ifdef MPI_Comm_c2f
  constants.flags |= MQR_FORTRAN_IS_C;
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0) /* who knows what makes some */
  constants.flags |= MQR_UNSEEN_REQUESTS;
#endif
  describe_status(&constants);
  mqr_handles_open(&constants);
  mqr_open_errhandlers();
  mqr_open_attributes();
}

static uint32_t predefined(MPI_Comm handle) {
  return handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF ? MQR_PREDEFINED : 0U;
}

void mqr_learn_twin(MPI_Comm handle, struct mqr_recorded_communicator* recorded) {
  mqr_communicator_set_handle(recorded, MQR_HANDLE(handle), 0, MQR_KNOWN_HANDLE);
}

void mqr_learn_handles(MPI_Comm handle, struct mqr_recorded_communicator* recorded, int inter) {
  mqr_communicator_set_handle(recorded, MQR_HANDLE(handle), MQR_C2F(Comm, handle),
                              MQR_KNOWN_HANDLE | MQR_KNOWN_FORTRAN | predefined(handle));
  mqr_learn_errhandler(handle, recorded);
  mqr_learn_attributes(handle, recorded);
  if (inter)
    mqr_communicator_set_topology(recorded, NULL);
  else
    mqr_learn_topology(handle, recorded, MQR_REORDERING_UNKNOWN);
}
