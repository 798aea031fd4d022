#ifndef MQBRIDGE_DLL_RECORDER_MPI_QUIETLY_H
#define MQBRIDGE_DLL_RECORDER_MPI_QUIETLY_H

#include "dll/recorder/mpi/library.h"

/* While the recorder asks MPI about a handle that may be none, between these two, MPI calls no
 * error handler of the program's: that is for the program's own call, which comes after. MPI takes
 * that of MPI_COMM_WORLD or of MPI_COMM_SELF for what belongs to no communicator. One thread at a
 * time. */
struct mqr_quiet {
  MPI_Errhandler world;
  MPI_Errhandler self;
};
struct mqr_quiet mqr_quietly(void);
void mqr_aloud(struct mqr_quiet* quiet);

#endif
