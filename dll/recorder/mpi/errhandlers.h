#ifndef MQBRIDGE_DLL_RECORDER_MPI_ERRHANDLERS_H
#define MQBRIDGE_DLL_RECORDER_MPI_ERRHANDLERS_H

/* Shared by the files about error handlers. */

#include "dll/recorder/mpi/handles.h"
#include "dll/recorder/mpi/noted.h"

/* Set in a call that gives the program a handle of an error handler, or takes one: through another
 * tool such a call comes twice, one within the other, and counts once. An error handler may leave
 * the call by longjmp() (call.c) or by a C++ exception. */
static inline void mqr_left_errhandler_call(int* const* in_it) {
  **in_it = 0;
}
#define MQR_IN_ERRHANDLER_CALL                                                                     \
  int* const in_it __attribute__((cleanup(mqr_left_errhandler_call))) =                            \
      &mqr_here.in_errhandler_call;                                                                \
  *in_it = 1

/* The program has an error handler whose making may not have been seen. `kind`: MQR_FOR_WINDOWS or
 * its like. */
void mqr_meet_errhandler(MPI_Errhandler handle, uint32_t kind);

/* A window that is being freed, and its error handler. mqr_withdraw_attachment() takes the error
 * handler from the window. One of the other two follows: the window was freed, or it was not. */
struct mqr_attachment {
  const void* object;
  const void* errhandler; /* NULL: none that is known */
};
struct mqr_attachment mqr_withdraw_attachment(const void* object);
void mqr_attachment_freed(struct mqr_attachment attachment);
void mqr_attachment_not_freed(struct mqr_attachment attachment);

#endif
