/* One-sided communication: calls that may wait for others. */

#include "dll/recorder/mpi/errhandlers.h"
#include "dll/recorder/mpi/object_communicators.h"

#define CONSTRUCTOR(name, function, parameters, arguments)                                         \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, function, comm, MQR_NO_ROOT);    \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS)                                                                     \
      mqr_object_made(&mqr_windows, MQR_HANDLE(*made), &entered, "window");                        \
    mqr_leave_collective(&entered, result);                                                        \
    return result;                                                                                 \
  }
CONSTRUCTOR(Win_create, MQR_Win_create,
            (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made),
            (base, size, unit, info, comm, made))
CONSTRUCTOR(Win_allocate, MQR_Win_allocate,
            (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
            (size, unit, info, comm, base, made))
CONSTRUCTOR(Win_allocate_shared, MQR_Win_allocate_shared,
            (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
            (size, unit, info, comm, base, made))
CONSTRUCTOR(Win_create_dynamic, MQR_Win_create_dynamic,
            (MPI_Info info, MPI_Comm comm, MPI_Win* made), (info, comm, made))

#if MPI_VERSION >= 4
CONSTRUCTOR(Win_create_c, MQR_Win_create,
            (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* made),
            (base, size, unit, info, comm, made))
CONSTRUCTOR(Win_allocate_c, MQR_Win_allocate,
            (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
            (size, unit, info, comm, base, made))
CONSTRUCTOR(Win_allocate_shared_c, MQR_Win_allocate_shared,
            (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
            (size, unit, info, comm, base, made))
#endif

MQR_RECORDED(Win_free, (MPI_Win * window), (window))
static int record_Win_free(const struct mqr_call* call, MPI_Win* window) {
  const void* const before = MQR_HANDLE(*window);
  mqr_enter_collective_of(call, MQR_Win_free, &mqr_windows, before);
  /* MPI may give the handle to another thread at once. */
  struct mqr_comm* const comm = mqr_object_withdraw(&mqr_windows, before);
  const struct mqr_attachment attachment = mqr_withdraw_attachment(before);
  const int result = MQR_NEXT(Win_free)(window);
  if (result != MPI_SUCCESS) {
    mqr_object_not_freed(&mqr_windows, before, comm);
    mqr_attachment_not_freed(attachment);
  } else {
    mqr_comm_freed(comm);
    mqr_attachment_freed(attachment);
  }
  mqr_leave();
  return result;
}

MQR_ON_OBJECT(mqr_enter_collective_of, &mqr_windows, window, Win_fence,
              (int assertion, MPI_Win window), (assertion, window))

#define SYNCHRONISATION(name, parameters, arguments)                                               \
  MQR_ON_OBJECT(mqr_enter_of, &mqr_windows, window, name, parameters, arguments)
SYNCHRONISATION(Win_post, (MPI_Group group, int assertion, MPI_Win window),
                (group, assertion, window))
SYNCHRONISATION(Win_start, (MPI_Group group, int assertion, MPI_Win window),
                (group, assertion, window))
SYNCHRONISATION(Win_complete, (MPI_Win window), (window))
SYNCHRONISATION(Win_wait, (MPI_Win window), (window))
SYNCHRONISATION(Win_test, (MPI_Win window, int* flag), (window, flag))
SYNCHRONISATION(Win_lock, (int type, int rank, int assertion, MPI_Win window),
                (type, rank, assertion, window))
SYNCHRONISATION(Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
SYNCHRONISATION(Win_unlock, (int rank, MPI_Win window), (rank, window))
SYNCHRONISATION(Win_unlock_all, (MPI_Win window), (window))
SYNCHRONISATION(Win_flush, (int rank, MPI_Win window), (rank, window))
SYNCHRONISATION(Win_flush_all, (MPI_Win window), (window))
SYNCHRONISATION(Win_flush_local, (int rank, MPI_Win window), (rank, window))
SYNCHRONISATION(Win_flush_local_all, (MPI_Win window), (window))
