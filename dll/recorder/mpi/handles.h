#ifndef MQBRIDGE_DLL_RECORDER_MPI_HANDLES_H
#define MQBRIDGE_DLL_RECORDER_MPI_HANDLES_H

/* Facts about the program's handles. The recorder asks MPI for them when a handle is made, and
 * notes later changes. All of these questions are local to the process. */

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/library.h"

/* Notes the constants of this MPI, its error handlers and its keyvals. Called once, before any
 * communicator is noted. */
void mqr_open_handles(void);
/* Asks about a new communicator that MPI has finished. */
void mqr_learn_handles(MPI_Comm handle, struct mqr_recorded_communicator* recorded, int inter);
/* For a communicator that MPI is still making: MPI cannot be asked yet. */
void mqr_learn_twin(MPI_Comm handle, struct mqr_recorded_communicator* recorded);

enum mqr_reordering { MQR_REORDERING_UNKNOWN = -1, MQR_NOT_REORDERED, MQR_REORDERED };
void mqr_learn_topology(MPI_Comm handle, struct mqr_recorded_communicator* recorded,
                        enum mqr_reordering reordering);

void mqr_open_attributes(void);
void mqr_learn_attributes(MPI_Comm handle, struct mqr_recorded_communicator* recorded);

void mqr_open_errhandlers(void);
void mqr_learn_errhandler(MPI_Comm handle, struct mqr_recorded_communicator* recorded);

#ifdef MPI_Comm_c2f /* a macro: a handle is a Fortran INTEGER as it is */
#define MQR_C2F(kind, handle) ((int32_t)(handle))
#else
#define MQR_C2F(kind, handle) ((int32_t)mqr_mpi.kind##_c2f(handle))
#endif

#endif
