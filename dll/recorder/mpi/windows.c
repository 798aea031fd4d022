/* One-sided communication: calls that may wait for others. Their order says nothing of the order of
 * collectives on the communicator, for windows are independent of each other. */

#include "dll/recorder/mpi/collective.h"
#include "dll/recorder/mpi/errhandlers.h"

#include <pthread.h>
#include <stdlib.h>

/* The communicator that a window was made on, as long as the program keeps both. */
struct window {
  MPI_Win handle;
  MPI_Comm comm;
  uint32_t serial; /* of struct mqr_comm */
  struct window* next;
};
static struct window* windows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(MPI_Win handle, const struct mqr_comm* comm) {
  struct window* const made = comm != NULL ? malloc(sizeof *made) : NULL;
  if (made == NULL)
    return;
  *made = (struct window){handle, comm->handle, comm->serial, NULL};
  pthread_mutex_lock(&lock);
  made->next = windows;
  windows = made;
  pthread_mutex_unlock(&lock);
}

static struct window** find_locked(MPI_Win handle) {
  struct window** link = &windows;
  while (*link != NULL && (*link)->handle != handle)
    link = &(*link)->next;
  return link;
}

static void forget(MPI_Win handle) {
  pthread_mutex_lock(&lock);
  struct window** const link = find_locked(handle);
  struct window* const gone = *link;
  if (gone != NULL)
    *link = gone->next;
  pthread_mutex_unlock(&lock);
  free(gone);
}

/* The communicator of a window. NULL: it is not known, or freed. */
static const struct mqr_comm* comm_of(MPI_Win handle) {
  pthread_mutex_lock(&lock);
  const struct window* const window = *find_locked(handle);
  const struct mqr_comm* const comm =
      window != NULL ? mqr_comm_known(window->comm, window->serial) : NULL;
  pthread_mutex_unlock(&lock);
  return comm;
}

static void enter(const struct mqr_call* call, enum mqr_function function, MPI_Win window) {
  const struct mqr_comm* const comm = comm_of(window);
  const struct mqr_call_spec spec = {.function = function,
                                     .site = call->site,
                                     .communicator = comm != NULL ? comm->recorded : NULL,
                                     .root = MQR_NO_ROOT};
  mqr_enter(&spec);
  mqr_sample_in(function);
}

#define CONSTRUCTOR(name, function, parameters, arguments)                                         \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    const struct mqr_entered entered = mqr_enter_collective(call, function, comm, MQR_NO_ROOT);    \
    const int result = MQR_NEXT(name) arguments;                                                   \
    if (result == MPI_SUCCESS)                                                                     \
      add(*made, entered.comm);                                                                    \
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
  const MPI_Win before = *window;
  enter(call, MQR_Win_free, before);
  const struct mqr_comm* const comm = comm_of(before);
  forget(before); /* MPI may give the handle to another thread at once */
  const struct mqr_attachment attachment = mqr_withdraw_attachment(MQR_HANDLE(before));
  const int result = MQR_NEXT(Win_free)(window);
  if (result != MPI_SUCCESS) {
    add(before, comm);
    mqr_attachment_not_freed(attachment);
  } else {
    mqr_attachment_freed(attachment);
  }
  mqr_leave();
  return result;
}

#define SYNCHRONISATION(name, parameters, arguments)                                               \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    enter(call, MQR_##name, window);                                                               \
    const int result = MQR_NEXT(name) arguments;                                                   \
    mqr_leave();                                                                                   \
    return result;                                                                                 \
  }
SYNCHRONISATION(Win_fence, (int assertion, MPI_Win window), (assertion, window))
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
