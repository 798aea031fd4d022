#include "dll/handles/recorder/recording.h"

#include <stdio.h>

static char* const names[] = {"", "MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_RETURN", "MPI_ERRORS_ABORT"};

static int bits_of(uint32_t flags, int predefined) {
  int bits = predefined ? MPIDBG_ERRH_INFO_PREDEFINED : 0;
  bits |= (flags & MQR_FOR_COMMUNICATORS) != 0 ? MPIDBG_ERRH_INFO_COMMUNICATOR : 0;
  bits |= (flags & MQR_FOR_FILES) != 0 ? MPIDBG_ERRH_INFO_FILE : 0;
  bits |= (flags & MQR_FOR_WINDOWS) != 0 ? MPIDBG_ERRH_INFO_WINDOW : 0;
  bits |= (flags & MQR_HANDLE_FREED) != 0 ? MPIDBG_ERRH_INFO_FREED_HANDLE : 0;
  bits |= (flags & MQR_C_FUNCTION) != 0 ? MPIDBG_ERRH_INFO_C_CALLBACK : 0;
  return bits;
}

/* Adds the communicators with the error handler; its files and windows are not known. A
 * communicator that the program has freed is no handle any more. */
static void add_attached(const struct recording* recording, struct mpidbg_errhandler_info_t* info) {
  const struct recorded_comm* const comms = recording->comms.entries;
  struct handle_list list = {0};
  for (int i = 0; i < recording->comms.count; ++i) {
    if ((comms[i].known & MQR_KNOWN_ERRHANDLER) == 0)
      return;
    if (comms[i].errhandler == info->eh_c_handle && !comms[i].freed &&
        handles_list_add(&list, comms[i].handle) != MPIDBG_SUCCESS)
      return;
  }
  if (!recording->whole || list.count > INT16_MAX)
    return;
  info->eh_refcount = (int16_t)list.count;
  info->eh_handles = list.handles != NULL ? list.handles : handles_array(0, sizeof *list.handles);
}

static int null_errhandler(const mqs_process_info* process, const struct recording* recording,
                           struct mpidbg_errhandler_info_t* info) {
  info->eh_fortran_handle =
      recording_null(process, recording, offsetof(struct mqr_handles, errhandler_null_fortran));
  snprintf(info->eh_name, sizeof info->eh_name, "MPI_ERRHANDLER_NULL");
  info->eh_bitflags = MPIDBG_ERRH_INFO_PREDEFINED;
  return MPIDBG_SUCCESS;
}

int recorder_errhandler(const mqs_process_info* process, void* state,
                        struct mpidbg_errhandler_info_t* info) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (info->eh_c_handle ==
      recording_constant(process, recording, offsetof(struct mqr_handles, errhandler_null)))
    return null_errhandler(process, recording, info);
  const struct recorded_errhandler* const found =
      recording_errhandler(recording, info->eh_c_handle);
  const int unseen = (recording_flags(process, recording) & MQR_UNSEEN_ERRHANDLERS) != 0;
  if (found == NULL)
    return unseen ? MPIDBG_ERR_UNAVAILABLE : recording_lacking(recording);
  const uint32_t flags = RECORDED(target_u32, found->bytes, mqr_errhandler, flags);
  const uint32_t predefined = RECORDED(target_u32, found->bytes, mqr_errhandler, predefined);
  if (predefined >= sizeof names / sizeof *names)
    return MPIDBG_ERR_UNAVAILABLE;
  snprintf(info->eh_name, sizeof info->eh_name, "%s", names[predefined]);
  info->eh_bitflags =
      (enum mpidbg_errhandler_info_bitmap_t)bits_of(flags, predefined != MQR_OWN_ERRHANDLER);
  if (unseen && predefined == MQR_OWN_ERRHANDLER && (flags & MQR_HANDLE_FREED) == 0)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  if ((flags & MQR_ERRHANDLER_HAS_FORTRAN) != 0)
    info->eh_fortran_handle = RECORDED(target_i32, found->bytes, mqr_errhandler, fortran);
  info->eh_callback_func = RECORDED(target_u64, found->bytes, mqr_errhandler, function);
  if (predefined == MQR_OWN_ERRHANDLER && (flags & MQR_FOR_COMMUNICATORS) != 0)
    add_attached(recording, info);
  return MPIDBG_SUCCESS;
}
