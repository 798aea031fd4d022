/* The reader of a process that was started with a recorder: any MPI's handles, from the process's
 * calls. */

#include "dll/handles/recorder/recording.h"

#define CONSTANT(member)                                                                           \
  recording_constant(process, recording, offsetof(struct mqr_handles, member))

static void name_comms(const mqs_process_info* process, const struct recording* recording,
                       struct name_map* comms) {
  const struct recorded_comm* const entries = recording->comms.entries;
  for (int i = 0; i < recording->comms.count; ++i) {
    uint64_t id = 0;
    const mqs_taddr_t at = entries[i].address + offsetof(struct mqr_communicator, id);
    if ((entries[i].known & MQR_PREDEFINED) != 0 && handles_word(process, at, sizeof id, &id))
      handles_name(comms, id == MQR_ID_OF_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF",
                   entries[i].handle);
  }
  handles_name(comms, "MPI_COMM_NULL", CONSTANT(comm_null));
}

static void name_errhandlers(const mqs_process_info* process, const struct recording* recording,
                             struct name_map* errhandlers) {
  static char* const names[] = {"MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_RETURN", "MPI_ERRORS_ABORT"};
  const struct recorded_errhandler* const entries = recording->errhandlers.entries;
  for (int i = 0; i < recording->errhandlers.count; ++i) {
    const uint32_t which = RECORDED(target_u32, entries[i].bytes, mqr_errhandler, predefined);
    if (which >= MQR_ERRORS_ARE_FATAL && which <= MQR_ERRORS_ABORT)
      handles_name(errhandlers, names[which - MQR_ERRORS_ARE_FATAL], entries[i].handle);
  }
  handles_name(errhandlers, "MPI_ERRHANDLER_NULL", CONSTANT(errhandler_null));
}

static void names(const mqs_process_info* process, void* state, struct name_map* comms,
                  struct name_map* errhandlers) {
  struct recording* const recording = state;
  if (recording_look(process, recording) != MPIDBG_SUCCESS)
    return;
  name_comms(process, recording, comms);
  name_errhandlers(process, recording, errhandlers);
}

static int translated(mqs_taddr_t found, const struct recording* recording, mqs_taddr_t* handle) {
  *handle = found;
  return found != 0 ? MPIDBG_SUCCESS : recording_lacking(recording);
}

/* The handle of a Fortran INTEGER. If an earlier handle with that number has not gone yet, it may
 * be either of them. */
struct standing {
  mqs_taddr_t handle;
  int several;
};

static void stands(struct standing* standing, mqs_taddr_t handle) {
  standing->several |= standing->handle != 0 && standing->handle != handle;
  standing->handle = handle;
}

static int the_one(struct standing standing, const struct recording* recording,
                   mqs_taddr_t* handle) {
  const int code = translated(standing.handle, recording, handle);
  return standing.several ? MPIDBG_ERR_UNAVAILABLE : code;
}

/* Whether handles in C are Fortran INTEGERs themselves. */
static int is_c(const mqs_process_info* process, const struct recording* recording) {
  return (recording_flags(process, recording) & MQR_FORTRAN_IS_C) != 0;
}

#define IS_NULL(member)                                                                            \
  (fortran == recording_null(process, recording, offsetof(struct mqr_handles, member)))

static int comm_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                    mqs_taddr_t* comm) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  const struct recorded_comm* const entries = recording->comms.entries;
  if (code != MPIDBG_SUCCESS)
    return code;
  if (is_c(process, recording))
    return translated((uint32_t)fortran, recording, comm);
  struct standing found = {IS_NULL(comm_null_fortran) ? CONSTANT(comm_null) : 0, 0};
  for (int i = 0; i < recording->comms.count; ++i)
    if ((entries[i].known & MQR_KNOWN_FORTRAN) != 0 && entries[i].fortran == fortran &&
        !entries[i].freed)
      stands(&found, entries[i].handle);
  return the_one(found, recording, comm);
}

static int errhandler_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                          mqs_taddr_t* errhandler) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  const struct recorded_errhandler* const entries = recording->errhandlers.entries;
  if (code != MPIDBG_SUCCESS)
    return code;
  if (is_c(process, recording))
    return translated((uint32_t)fortran, recording, errhandler);
  struct standing found = {IS_NULL(errhandler_null_fortran) ? CONSTANT(errhandler_null) : 0, 0};
  for (int i = 0; i < recording->errhandlers.count; ++i) {
    const uint32_t flags = RECORDED(target_u32, entries[i].bytes, mqr_errhandler, flags);
    if ((flags & MQR_ERRHANDLER_HAS_FORTRAN) != 0 &&
        RECORDED(target_i32, entries[i].bytes, mqr_errhandler, fortran) == fortran)
      stands(&found, entries[i].handle);
  }
  return the_one(found, recording, errhandler);
}

/* A request that is not found has no number in Fortran, or the recorder has not seen it. */
static int request_f2c(const mqs_process_info* process, void* state, int32_t fortran,
                       mqs_taddr_t* request) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  const struct recorded_request* const entries = recording->requests.entries;
  if (code != MPIDBG_SUCCESS)
    return code;
  if (is_c(process, recording))
    return translated((uint32_t)fortran, recording, request);
  if (IS_NULL(request_null_fortran))
    return translated(CONSTANT(request_null), recording, request);
  struct standing found = {0, 0};
  for (int i = 0; i < recording->requests.count; ++i)
    if ((entries[i].flags & (MQR_HAS_FORTRAN | MQR_REQUEST_FREED)) == MQR_HAS_FORTRAN &&
        entries[i].fortran == fortran)
      stands(&found, entries[i].handle);
  return found.handle != 0 ? the_one(found, recording, request) : MPIDBG_ERR_UNAVAILABLE;
}

static int whole_list(const mqs_process_info* process, const struct recording* recording,
                      uint32_t unseen) {
  return recording_lacking(recording) == MPIDBG_ERR_NOT_FOUND &&
                 (recording_flags(process, recording) & unseen) == 0
             ? MPIDBG_SUCCESS
             : MPIDBG_ERR_UNAVAILABLE;
}

static int comms(const mqs_process_info* process, void* state, struct handle_list* list) {
  struct recording* const recording = state;
  int code = recording_look(process, recording);
  const struct recorded_comm* const entries = recording->comms.entries;
  for (int i = 0; code == MPIDBG_SUCCESS && i < recording->comms.count; ++i)
    if ((entries[i].known & MQR_KNOWN_HANDLE) != 0)
      code = handles_list_add(list, entries[i].handle);
  if (code == MPIDBG_SUCCESS)
    code = handles_list_add(list, CONSTANT(comm_null));
  return code == MPIDBG_SUCCESS ? whole_list(process, recording, 0) : code;
}

static int requests(const mqs_process_info* process, void* state, struct handle_list* list) {
  struct recording* const recording = state;
  int code = recording_look(process, recording);
  const struct recorded_request* const entries = recording->requests.entries;
  for (int i = 0; code == MPIDBG_SUCCESS && i < recording->requests.count; ++i)
    if ((entries[i].flags & MQR_REQUEST_FREED) == 0)
      code = handles_list_add(list, entries[i].handle);
  return code == MPIDBG_SUCCESS ? whole_list(process, recording, MQR_UNSEEN_REQUESTS) : code;
}

static int errhandlers(const mqs_process_info* process, void* state, struct handle_list* list) {
  struct recording* const recording = state;
  int code = recording_look(process, recording);
  const struct recorded_errhandler* const entries = recording->errhandlers.entries;
  for (int i = 0; code == MPIDBG_SUCCESS && i < recording->errhandlers.count; ++i)
    code = handles_list_add(list, entries[i].handle);
  if (code == MPIDBG_SUCCESS)
    code = handles_list_add(list, CONSTANT(errhandler_null));
  return code == MPIDBG_SUCCESS ? whole_list(process, recording, MQR_UNSEEN_ERRHANDLERS) : code;
}

const struct reader handles_recorder = {
    .name = "the recorder",
    .symbol = MQR_ROOT_SYMBOL,
    .open = recording_open,
    .names = names,
    .comm_capabilities = MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_STRING_NAMES |
                         MPIDBG_COMM_CAP_FREED_HANDLE | MPIDBG_COMM_CAP_REQUEST_LIST,
    .errhandler_capabilities = MPIDBG_ERRH_CAP_BASIC | MPIDBG_ERRH_CAP_STRING_NAMES |
                               MPIDBG_ERRH_CAP_FREED_HANDLE | MPIDBG_ERRH_CAP_HANDLE_LIST,
    .comm = recorder_comm,
    .request = recorder_request,
    .status = recorder_status,
    .errhandler = recorder_errhandler,
    .comm_f2c = comm_f2c,
    .errhandler_f2c = errhandler_f2c,
    .request_f2c = request_f2c,
    .comms = comms,
    .requests = requests,
    .errhandlers = errhandlers,
};
