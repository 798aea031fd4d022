/* MPICH's handles are integers, in Fortran as in C. */

#include "dll/handles/mpich/layout.h"

#include <string.h>

enum { LANGUAGE_C = 0, BUILTIN = 1, PLACE_SHIFT = 30 };

static void names(const mqs_process_info* process, void* state, struct name_map* comms,
                  struct name_map* errhandlers) {
  (void)process;
  (void)state;
  handles_name(comms, "MPI_COMM_WORLD", MPICH_COMM_WORLD);
  handles_name(comms, "MPI_COMM_SELF", MPICH_COMM_SELF);
  handles_name(comms, "MPI_COMM_NULL", MPICH_COMM_NULL);
  handles_name(errhandlers, "MPI_ERRORS_ARE_FATAL", MPICH_ERRORS_ARE_FATAL);
  handles_name(errhandlers, "MPI_ERRORS_RETURN", MPICH_ERRORS_RETURN);
  handles_name(errhandlers, "MPI_ERRHANDLER_NULL", MPICH_ERRHANDLER_NULL);
}

static void name_predefined(struct mpidbg_errhandler_info_t* info) {
  const char* const name = info->eh_c_handle == MPICH_ERRORS_ARE_FATAL  ? "MPI_ERRORS_ARE_FATAL"
                           : info->eh_c_handle == MPICH_ERRORS_RETURN   ? "MPI_ERRORS_RETURN"
                           : info->eh_c_handle == MPICH_ERRHANDLER_NULL ? "MPI_ERRHANDLER_NULL"
                                                                        : "";
  strncpy(info->eh_name, name, sizeof info->eh_name - 1);
  info->eh_bitflags |= MPIDBG_ERRH_INFO_PREDEFINED;
}

static int has_errhandler(const mqs_process_info* process, const struct mpich* mpich,
                          mqs_taddr_t comm, mqs_taddr_t errhandler) {
  const mqs_taddr_t at = mpich_object(process, mpich, &mpich->comms, comm);
  mqs_taddr_t attached = 0;
  return mpich_word(process, mpich, at, COMM_ERRHANDLER, &attached) && attached == errhandler;
}

/* The number of communicators to which the error handler at `at` is attached. -1: not known. */
static int attached_to(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t at,
                       int (*list_comms)(const mqs_process_info*, const struct mpich*,
                                         struct handle_list*),
                       mqs_taddr_t** attached) {
  struct handle_list comms = {0};
  int count = 0;
  const int code = list_comms(process, mpich, &comms);
  *attached = handles_array((size_t)comms.count, sizeof **attached);
  for (int i = 0; *attached != NULL && i < comms.count; ++i)
    if (has_errhandler(process, mpich, comms.handles[i], at))
      (*attached)[count++] = comms.handles[i];
  if (comms.handles != NULL)
    handles_host->mqs_free_fp(comms.handles);
  return code == MPIDBG_SUCCESS && *attached != NULL ? count : -1;
}

static int list_all(const mqs_process_info* process, const struct mpich* mpich,
                    struct handle_list* list) {
  return mpich_list(process, mpich, &mpich->comms, list);
}

/* An error handler of communicators has a reference for each of them, and one for the program's
 * handle. */
static void add_attached(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t at,
                         struct mpidbg_errhandler_info_t* info) {
  mqs_taddr_t* by_all = NULL;
  int references = 0;
  const int holders = attached_to(process, mpich, at, list_all, &by_all);
  const int shown = attached_to(process, mpich, at, mpich_comms, &info->eh_handles);
  if (by_all != NULL)
    handles_host->mqs_free_fp(by_all);
  if (holders < 0 || shown < 0 || shown > INT16_MAX) {
    if (info->eh_handles != NULL)
      handles_host->mqs_free_fp(info->eh_handles);
    info->eh_handles = NULL;
    return;
  }
  info->eh_refcount = (int16_t)shown;
  if (!mpich_int(process, mpich, at, OBJECT_REFERENCES, &references))
    return;
  info->eh_bitflags &= ~(unsigned)MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  if (references <= holders)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FREED_HANDLE;
}

static int errhandler(const mqs_process_info* process, void* state,
                      struct mpidbg_errhandler_info_t* info) {
  const struct mpich* const mpich = state;
  mqs_taddr_t at = 0;
  const int code = mpich_find(process, mpich, &mpich->errhandlers, info->eh_c_handle, &at);
  int kind = 0;
  int language = -1;
  info->eh_fortran_handle = (int)(uint32_t)info->eh_c_handle;
  if (info->eh_c_handle == MPICH_ERRHANDLER_NULL ||
      (code == MPIDBG_SUCCESS && info->eh_c_handle >> PLACE_SHIFT == BUILTIN)) {
    name_predefined(info);
    return MPIDBG_SUCCESS;
  }
  if (code != MPIDBG_SUCCESS)
    return code;
  if (!mpich_int(process, mpich, at, ERRHANDLER_KIND, &kind))
    return MPIDBG_ERR_UNAVAILABLE;
  if (kind == MPICH_COMM)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_COMMUNICATOR;
  else if (kind == MPICH_FILE)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FILE;
  else if (kind == MPICH_WINDOW)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_WINDOW;
  if (mpich_int(process, mpich, at, ERRHANDLER_LANGUAGE, &language) && language == LANGUAGE_C)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_C_CALLBACK;
  mpich_word(process, mpich, at, ERRHANDLER_FUNCTION, &info->eh_callback_func);
  info->eh_bitflags |=
      MPIDBG_ERRH_INFO_FREED_NOT_KNOWN; /* windows and files are not looked through */
  if (kind == MPICH_COMM)
    add_attached(process, mpich, at, info);
  return MPIDBG_SUCCESS;
}

static int comms(const mqs_process_info* process, void* state, struct handle_list* list) {
  return mpich_comms(process, state, list);
}

static int errhandlers(const mqs_process_info* process, void* state, struct handle_list* list) {
  const struct mpich* const mpich = state;
  return mpich_list(process, mpich, &mpich->errhandlers, list);
}

/* A handle is the same integer in Fortran and C. */
static int translate(const mqs_process_info* process, const struct mpich* mpich,
                     const struct mpich_pool* pool, mqs_taddr_t null, int32_t fortran,
                     mqs_taddr_t* handle) {
  mqs_taddr_t object = 0;
  *handle = (uint32_t)fortran;
  return *handle == null ? MPIDBG_SUCCESS : mpich_find(process, mpich, pool, *handle, &object);
}

static int comm_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                    mqs_taddr_t* comm) {
  const struct mpich* const mpich = state;
  return translate(process, mpich, &mpich->comms, MPICH_COMM_NULL, fortran, comm);
}

static int errhandler_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                          mqs_taddr_t* found) {
  const struct mpich* const mpich = state;
  return translate(process, mpich, &mpich->errhandlers, MPICH_ERRHANDLER_NULL, fortran, found);
}

static int request_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                       mqs_taddr_t* request) {
  const struct mpich* const mpich = state;
  return translate(process, mpich, &mpich->requests, MPICH_REQUEST_NULL, fortran, request);
}

/* A Fortran status has the same integers. */
static int status_f2c(const mqs_process_info* process, void* state, mqs_taddr_t fortran,
                      mqs_taddr_t* status) {
  (void)process;
  (void)state;
  *status = fortran;
  return MPIDBG_SUCCESS;
}

const struct reader handles_mpich = {
    .name = "MPICH",
    .symbol = "MPIR_Comm_builtin",
    .open = mpich_open,
    .names = names,
    .comm_capabilities = MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_STRING_NAMES,
    .errhandler_capabilities = MPIDBG_ERRH_CAP_BASIC | MPIDBG_ERRH_CAP_STRING_NAMES |
                               MPIDBG_ERRH_CAP_FREED_HANDLE | MPIDBG_ERRH_CAP_HANDLE_LIST,
    .comm = mpich_comm,
    .request = mpich_request,
    .status = mpich_status,
    .errhandler = errhandler,
    .comm_f2c = comm_f2c,
    .errhandler_f2c = errhandler_f2c,
    .request_f2c = request_f2c,
    .status_f2c = status_f2c,
    .comms = comms,
    .errhandlers = errhandlers,
};
