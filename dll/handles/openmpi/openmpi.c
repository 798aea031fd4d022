/* Open MPI's handles are addresses of its objects; its Fortran handles are places in tables. */

#include "dll/handles/openmpi/objects.h"

static void types(const mqs_process_info* process, void* state,
                  struct mpidbg_handle_info_t* types_of) {
  (void)state;
  types_of->hi_c_comm = handles_type(process, "ompi_communicator_t");
  types_of->hi_c_datatype = handles_type(process, "ompi_datatype_t");
  types_of->hi_c_errhandler = handles_type(process, "ompi_errhandler_t");
  types_of->hi_c_group = handles_type(process, "ompi_group_t");
  types_of->hi_c_request = handles_type(process, "ompi_request_t");
  types_of->hi_c_status = handles_type(process, "ompi_status_public_t");
}

static void names(const mqs_process_info* process, void* state, struct name_map* comms,
                  struct name_map* errhandlers) {
  const struct openmpi* const openmpi = state;
  (void)process;
  handles_name(comms, "MPI_COMM_WORLD", openmpi->symbols[COMM_WORLD]);
  handles_name(comms, "MPI_COMM_SELF", openmpi->symbols[COMM_SELF]);
  handles_name(comms, "MPI_COMM_NULL", openmpi->symbols[COMM_NULL]);
  handles_name(errhandlers, "MPI_ERRORS_ARE_FATAL", openmpi->symbols[ERRORS_ARE_FATAL]);
  handles_name(errhandlers, "MPI_ERRORS_RETURN", openmpi->symbols[ERRORS_RETURN]);
  handles_name(errhandlers, "MPI_ERRHANDLER_NULL", openmpi->symbols[ERRHANDLER_NULL]);
}

static void close(void* state) {
  struct openmpi* const openmpi = state;
  if (openmpi->held.handles != NULL)
    handles_host->mqs_free_fp(openmpi->held.handles);
  handles_host->mqs_free_fp(openmpi);
}

static int comm_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                    mqs_taddr_t* comm) {
  return openmpi_find_slot(process, state, COMMS_OF_FORTRAN, fortran, comm);
}

static int errhandler_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                          mqs_taddr_t* errhandler) {
  return openmpi_find_slot(process, state, ERRHANDLERS_OF_FORTRAN, fortran, errhandler);
}

static int request_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                       mqs_taddr_t* request) {
  return openmpi_find_slot(process, state, REQUESTS_OF_FORTRAN, fortran, request);
}

/* A Fortran status has the same form as that of C. MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are
 * addresses that two variables of C hold. */
static int status_f2c(const mqs_process_info* process, void* state, mqs_taddr_t fortran,
                      mqs_taddr_t* status) {
  const struct openmpi* const openmpi = state;
  mqs_taddr_t one = 0;
  mqs_taddr_t several = 0;
  if (!handles_pointer(process, openmpi->symbols[STATUS_IGNORE], &one) ||
      !handles_pointer(process, openmpi->symbols[STATUSES_IGNORE], &several))
    return MPIDBG_ERR_UNAVAILABLE;
  *status = fortran == one || fortran == several ? 0 : fortran;
  return MPIDBG_SUCCESS;
}

static int comms(const mqs_process_info* process, void* state, struct handle_list* list) {
  return openmpi_list_table(process, state, COMMS, list);
}

static int errhandlers(const mqs_process_info* process, void* state, struct handle_list* list) {
  return openmpi_list_table(process, state, ERRHANDLERS_OF_FORTRAN, list);
}

const struct reader handles_openmpi = {
    .name = "Open MPI",
    .symbol = "ompi_mpi_communicators",
    .open = openmpi_open,
    .close = close,
    .types = types,
    .names = names,
    .comm_capabilities = MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_STRING_NAMES,
    .errhandler_capabilities = MPIDBG_ERRH_CAP_BASIC | MPIDBG_ERRH_CAP_STRING_NAMES |
                               MPIDBG_ERRH_CAP_FREED_HANDLE | MPIDBG_ERRH_CAP_HANDLE_LIST,
    .comm = openmpi_comm,
    .request = openmpi_request,
    .status = openmpi_status,
    .errhandler = openmpi_errhandler,
    .comm_f2c = comm_f2c,
    .errhandler_f2c = errhandler_f2c,
    .request_f2c = request_f2c,
    .status_f2c = status_f2c,
    .comms = comms,
    .requests = openmpi_requests,
    .errhandlers = errhandlers,
};
