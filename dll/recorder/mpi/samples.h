#ifndef MQBRIDGE_DLL_RECORDER_MPI_SAMPLES_H
#define MQBRIDGE_DLL_RECORDER_MPI_SAMPLES_H

/* The performance variables that are sampled. A variable that is bound to nothing has one handle of
 * MPI_T; a variable that is bound to communicators has one for each communicator. The caller holds
 * the lock of variables.c, unless a function says otherwise. */

#include "dll/recorder/mpi/tool_interface.h"
#include "dll/recorder/variables.h"

/* Between mqr_tool_open() and mqr_tool_close(). 0: MPI refuses. */
int mqr_samples_open(void);
/* Gives all handles back, and forgets the variables. */
void mqr_samples_close(void);

/* A mqr_take_variable: it will be sampled. */
void mqr_samples_take(const struct mqr_variable* described, uint32_t variable);

/* From here on, until it goes, it is a communicator whose variables are sampled. */
void mqr_samples_add_communicator(MPI_Comm comm, uint64_t id);
void mqr_samples_remove_communicator(MPI_Comm comm);
void mqr_samples_forget_communicators(void);

/* Reads and publishes all. 0: MPI_T has been finalized by somebody else. */
int mqr_samples_read(uint64_t when);

#endif
