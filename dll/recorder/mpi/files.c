/* Files: calls that wait for others, and calls inside of which MPI may call itself. What MPI calls
 * there is none of the program's. */

#include "dll/recorder/mpi/errhandlers.h"
#include "dll/recorder/mpi/object_communicators.h"

#include <stdio.h>
#include <string.h>

#define INDEPENDENT(name, parameters, arguments)                                                   \
  MQR_ON_OBJECT(mqr_enter_of, &mqr_files, file, name, parameters, arguments)
#define COLLECTIVE(name, parameters, arguments)                                                    \
  MQR_ON_OBJECT(mqr_enter_collective_of, &mqr_files, file, name, parameters, arguments)

#define READING void *buffer, mqr_count count, MPI_Datatype type
#define WRITING const void *buffer, mqr_count count, MPI_Datatype type
/* Each with a plain, a collective and a split collective variant. */
#define TRANSFERS(read, read_all, moved)                                                           \
  INDEPENDENT(File_##read, (MPI_File file, moved, MPI_Status * status),                            \
              (file, buffer, count, type, status))                                                 \
  COLLECTIVE(File_##read_all, (MPI_File file, moved, MPI_Status * status),                         \
             (file, buffer, count, type, status))                                                  \
  COLLECTIVE(File_##read_all##_begin, (MPI_File file, moved), (file, buffer, count, type))
#define TRANSFERS_AT(read, moved)                                                                  \
  INDEPENDENT(File_##read, (MPI_File file, MPI_Offset at, moved, MPI_Status * status),             \
              (file, at, buffer, count, type, status))                                             \
  COLLECTIVE(File_##read##_all, (MPI_File file, MPI_Offset at, moved, MPI_Status * status),        \
             (file, at, buffer, count, type, status))                                              \
  COLLECTIVE(File_##read##_all_begin, (MPI_File file, MPI_Offset at, moved),                       \
             (file, at, buffer, count, type))
TRANSFERS_AT(read_at, READING)
TRANSFERS_AT(write_at, WRITING)
TRANSFERS(read, read_all, READING)
TRANSFERS(write, write_all, WRITING)
TRANSFERS(read_shared, read_ordered, READING)
TRANSFERS(write_shared, write_ordered, WRITING)

#ifndef MQR_LARGE
#define END(name, buffer_type)                                                                     \
  COLLECTIVE(File_##name##_end, (MPI_File file, buffer_type buffer, MPI_Status * status),          \
             (file, buffer, status))
END(read_at_all, void*)
END(write_at_all, const void*)
END(read_all, void*)
END(write_all, const void*)
END(read_ordered, void*)
END(write_ordered, const void*)

COLLECTIVE(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
COLLECTIVE(File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
COLLECTIVE(File_set_info, (MPI_File file, MPI_Info info), (file, info))
COLLECTIVE(File_set_view,
           (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char* form,
            MPI_Info info),
           (file, at, unit, type, form, info))
COLLECTIVE(File_seek_shared, (MPI_File file, MPI_Offset at, int from), (file, at, from))
COLLECTIVE(File_set_atomicity, (MPI_File file, int on), (file, on))
COLLECTIVE(File_sync, (MPI_File file), (file))
INDEPENDENT(File_get_size, (MPI_File file, MPI_Offset* size), (file, size))
INDEPENDENT(File_get_position_shared, (MPI_File file, MPI_Offset* at), (file, at))
INDEPENDENT(File_seek, (MPI_File file, MPI_Offset at, int from), (file, at, from))

MQR_RECORDED(File_open, (MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* made),
             (comm, path, mode, info, made))
static int record_File_open(const struct mqr_call* call, MPI_Comm comm, const char* path, int mode,
                            MPI_Info info, MPI_File* made) {
  const struct mqr_entered entered = mqr_enter_collective(call, MQR_File_open, comm, MQR_NO_ROOT);
  const int result = MQR_NEXT(File_open)(comm, path, mode, info, made);
  if (result == MPI_SUCCESS) {
    const char* const slash = strrchr(path, '/');
    char name[MQR_NAME_SIZE];
    snprintf(name, sizeof name, "file %s", slash != NULL ? slash + 1 : path);
    mqr_object_made(&mqr_files, MQR_HANDLE(*made), &entered, name);
  }
  mqr_leave(); /* a file that cannot be opened is no reason for doubts: others have tried, too */
  return result;
}

typedef int close_function(MPI_File* file);

static int closing(close_function* next, MPI_File* file) {
  const void* const before = MQR_HANDLE(*file);
  struct mqr_comm* const comm = mqr_object_withdraw(&mqr_files, before);
  const struct mqr_attachment attachment = mqr_withdraw_attachment(before);
  const int result = next(file);
  if (result == MPI_SUCCESS) {
    mqr_comm_freed(comm);
    mqr_attachment_freed(attachment);
  } else {
    mqr_object_not_freed(&mqr_files, before, comm);
    mqr_attachment_not_freed(attachment);
  }
  return result;
}

static int record_closing(const struct mqr_call* call, MPI_File* file) {
  mqr_enter_collective_of(call, MQR_File_close, &mqr_files, MQR_HANDLE(*file));
  const int result = closing((close_function*)call->next, file);
  mqr_leave();
  return result;
}

/* A callback of the program (for an attribute) may close a file within a call. */
#define CLOSING(prefix)                                                                            \
  MQR_EXPORTED int prefix##File_close(MPI_File* file) {                                            \
    static mqr_any_function* next;                                                                 \
    MQR_CALL(call);                                                                                \
    if (!mqr_begins(&call, &next, #prefix "File_close", __builtin_return_address(0),               \
                    __builtin_frame_address(0)))                                                   \
      return closing((close_function*)call.next, file);                                            \
    const int result = record_closing(&call, file);                                                \
    mqr_ends(&call);                                                                               \
    return result;                                                                                 \
  }
CLOSING(MPI_)
CLOSING(PMPI_)

MQR_RECORDED(File_delete, (const char* path, MPI_Info info), (path, info))
static int record_File_delete(const struct mqr_call* call, const char* path, MPI_Info info) {
  mqr_enter_plain(call, MQR_File_delete);
  const int result = MQR_NEXT(File_delete)(path, info);
  mqr_leave();
  return result;
}
#endif
