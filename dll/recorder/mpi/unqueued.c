/* Requests of one-sided communication, of files, and generalized ones: nothing tells when they are
 * complete, only that there is such a request. */

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/message.h"
#include "dll/recorder/mpi/noted.h"

/* `parameters` and `arguments` without the request, which is the last one. */
#define UNQUEUED(name, parameters, arguments)                                                      \
  MQR_RECORDED(name, (MQR_UNPACK parameters, MPI_Request * request),                               \
               (MQR_UNPACK arguments, request))                                                    \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters,                     \
                           MPI_Request* request) {                                                 \
    mqr_enter_plain(call, MQR_##name);                                                             \
    const int result = MQR_NEXT(name)(MQR_UNPACK arguments, request);                              \
    mqr_posted_unqueued(call, MQR_##name, 0, MPI_COMM_NULL, result, request);                      \
    mqr_leave();                                                                                   \
    return result;                                                                                 \
  }

#define ORIGIN mqr_count count, MPI_Datatype type
#define TARGET int rank, MPI_Aint at, mqr_count target_count, MPI_Datatype target_type
#define ORIGIN_ARGUMENTS count, type
#define TARGET_ARGUMENTS rank, at, target_count, target_type
UNQUEUED(Rput, (const void* origin, ORIGIN, TARGET, MPI_Win window),
         (origin, ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, window))
UNQUEUED(Rget, (void* origin, ORIGIN, TARGET, MPI_Win window),
         (origin, ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, window))
UNQUEUED(Raccumulate, (const void* origin, ORIGIN, TARGET, MPI_Op op, MPI_Win window),
         (origin, ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, op, window))
UNQUEUED(Rget_accumulate,
         (const void* origin, ORIGIN, void* fetched, mqr_count fetched_count,
          MPI_Datatype fetched_type, TARGET, MPI_Op op, MPI_Win window),
         (origin, ORIGIN_ARGUMENTS, fetched, fetched_count, fetched_type, TARGET_ARGUMENTS, op,
          window))

#define READING void *buffer, mqr_count count, MPI_Datatype type
#define WRITING const void *buffer, mqr_count count, MPI_Datatype type
UNQUEUED(File_iread, (MPI_File file, READING), (file, buffer, count, type))
UNQUEUED(File_iwrite, (MPI_File file, WRITING), (file, buffer, count, type))
UNQUEUED(File_iread_at, (MPI_File file, MPI_Offset at, READING), (file, at, buffer, count, type))
UNQUEUED(File_iwrite_at, (MPI_File file, MPI_Offset at, WRITING), (file, at, buffer, count, type))
UNQUEUED(File_iread_all, (MPI_File file, READING), (file, buffer, count, type))
UNQUEUED(File_iwrite_all, (MPI_File file, WRITING), (file, buffer, count, type))
UNQUEUED(File_iread_at_all, (MPI_File file, MPI_Offset at, READING),
         (file, at, buffer, count, type))
UNQUEUED(File_iwrite_at_all, (MPI_File file, MPI_Offset at, WRITING),
         (file, at, buffer, count, type))
UNQUEUED(File_iread_shared, (MPI_File file, READING), (file, buffer, count, type))
UNQUEUED(File_iwrite_shared, (MPI_File file, WRITING), (file, buffer, count, type))

#ifndef MQR_LARGE
UNQUEUED(Grequest_start,
         (MPI_Grequest_query_function * query, MPI_Grequest_free_function* release,
          MPI_Grequest_cancel_function* cancel, void* state),
         (query, release, cancel, state))

/* The program says that a request is complete. As soon as MPI knows it, another request may get the
 * handle. */
MQR_NOTED(Grequest_complete, (MPI_Request request), (request))
static int note_Grequest_complete(Grequest_complete_function* next, MPI_Request request) {
  mqr_unqueued_complete(MQR_HANDLE(request));
  return next(request);
}

/* An MPI whose requests are addresses gives Fortran a number of its own for each. */
#ifndef MPI_Request_c2f
typedef MPI_Fint c2f_function(MPI_Request request);

static MPI_Fint note_c2f(c2f_function* next, MPI_Request request) {
  const MPI_Fint fortran = next(request);
  if (__atomic_load_n(&mqr_active, __ATOMIC_RELAXED))
    mqr_request_set_fortran(MQR_HANDLE(request), fortran);
  return fortran;
}

#define C2F(prefix)                                                                                \
  MQR_EXPORTED MPI_Fint prefix##Request_c2f(MPI_Request request) {                                 \
    static mqr_any_function* cache;                                                                \
    c2f_function* next = (c2f_function*)__atomic_load_n(&cache, __ATOMIC_RELAXED);                 \
    if (next == NULL)                                                                              \
      next =                                                                                       \
          (c2f_function*)mqr_resolve(&cache, #prefix "Request_c2f", __builtin_return_address(0));  \
    return note_c2f(next, request);                                                                \
  }
C2F(MPI_)
C2F(PMPI_)
#endif
#endif
