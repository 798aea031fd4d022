/* Error handlers: predefined ones, those that the program makes, and which one a communicator has.
 */

#include "dll/recorder/mpi/errhandlers.h"

#include "dll/recorder/mpi/communicator.h"

enum { any_kind = MQR_FOR_COMMUNICATORS | MQR_FOR_FILES | MQR_FOR_WINDOWS };

static void add(MPI_Errhandler handle, const void* function, uint32_t flags,
                enum mqr_predefined_errhandler predefined) {
  const struct mqr_errhandler_spec spec = {.handle = MQR_HANDLE(handle),
                                           .function = function,
                                           .fortran = MQR_C2F(Errhandler, handle),
                                           .flags = flags | MQR_ERRHANDLER_HAS_FORTRAN,
                                           .predefined = predefined};
  mqr_errhandler_add(&spec);
}

void mqr_open_errhandlers(void) {
  add(MPI_ERRORS_ARE_FATAL, NULL, any_kind, MQR_ERRORS_ARE_FATAL);
  add(MPI_ERRORS_RETURN, NULL, any_kind, MQR_ERRORS_RETURN);
#if MPI_VERSION >= 4
  add(MPI_ERRORS_ABORT, NULL, any_kind, MQR_ERRORS_ABORT);
#endif
}

/* The Fortran bindings make error handlers without a call of MPI's C functions. */
void mqr_meet_errhandler(MPI_Errhandler handle, uint32_t kind) {
  if (!mqr_errhandler_is_known(MQR_HANDLE(handle)))
    add(handle, NULL, kind, MQR_OWN_ERRHANDLER);
}

static void attach(struct mqr_recorded_communicator* recorded, MPI_Errhandler handle) {
  mqr_meet_errhandler(handle, MQR_FOR_COMMUNICATORS);
  mqr_communicator_set_errhandler(recorded, MQR_HANDLE(handle));
}

void mqr_learn_errhandler(MPI_Comm handle, struct mqr_recorded_communicator* recorded) {
  MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
  if (mqr_mpi.Comm_get_errhandler(handle, &errhandler) != MPI_SUCCESS)
    return;
  attach(recorded, errhandler);
  mqr_mpi.Errhandler_free(&errhandler);
}

/* A function's address as data. */
#define ADDRESS(function) ((const void*)(uintptr_t)(function))

#define CREATION(name, type, flag)                                                                 \
  MQR_NOTED(name, (type * function, MPI_Errhandler * made), (function, made))                      \
  static int note_##name(name##_function* next, type* function, MPI_Errhandler* made) {            \
    const int result = next(function, made);                                                       \
    if (result == MPI_SUCCESS)                                                                     \
      add(*made, ADDRESS(function), (flag) | MQR_C_FUNCTION, MQR_OWN_ERRHANDLER);                  \
    return result;                                                                                 \
  }
CREATION(Comm_create_errhandler, MPI_Comm_errhandler_function, MQR_FOR_COMMUNICATORS)
CREATION(File_create_errhandler, MPI_File_errhandler_function, MQR_FOR_FILES)
CREATION(Win_create_errhandler, MPI_Win_errhandler_function, MQR_FOR_WINDOWS)

static int set_on(int (*next)(MPI_Comm, MPI_Errhandler), MPI_Comm handle,
                  MPI_Errhandler errhandler) {
  const int result = next(handle, errhandler);
  const struct mqr_comm* const comm = result == MPI_SUCCESS ? mqr_comm_find(handle) : NULL;
  if (comm != NULL)
    attach(comm->recorded, errhandler);
  return result;
}

MQR_NOTED(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler))
static int note_Comm_set_errhandler(Comm_set_errhandler_function* next, MPI_Comm comm,
                                    MPI_Errhandler errhandler) {
  return set_on(next, comm, errhandler);
}

/* The program gets one more handle of the error handler, which it has to free. */
MQR_NOTED(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* errhandler), (comm, errhandler))
static int note_Comm_get_errhandler(Comm_get_errhandler_function* next, MPI_Comm comm,
                                    MPI_Errhandler* errhandler) {
  if (mqr_here.in_errhandler_call)
    return next(comm, errhandler);
  MQR_IN_ERRHANDLER_CALL;
  const int result = next(comm, errhandler);
  if (result == MPI_SUCCESS)
    mqr_errhandler_refer(MQR_HANDLE(*errhandler));
  return result;
}

MQR_NOTED(Errhandler_free, (MPI_Errhandler * errhandler), (errhandler))
static int note_Errhandler_free(Errhandler_free_function* next, MPI_Errhandler* errhandler) {
  if (mqr_here.in_errhandler_call)
    return next(errhandler);
  const MPI_Errhandler before = *errhandler;
  MQR_IN_ERRHANDLER_CALL;
  const int result = next(errhandler);
  if (result == MPI_SUCCESS)
    mqr_errhandler_free(MQR_HANDLE(before));
  return result;
}

/* The same functions by their names of MPI 1, for which some headers have macros. */
#undef MPI_Errhandler_create
#undef PMPI_Errhandler_create
#undef MPI_Errhandler_set
#undef PMPI_Errhandler_set
CREATION(Errhandler_create, MPI_Comm_errhandler_function, MQR_FOR_COMMUNICATORS)

MQR_NOTED(Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler))
static int note_Errhandler_set(Errhandler_set_function* next, MPI_Comm comm,
                               MPI_Errhandler errhandler) {
  return set_on(next, comm, errhandler);
}
