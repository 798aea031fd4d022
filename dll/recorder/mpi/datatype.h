#ifndef MQBRIDGE_DLL_RECORDER_MPI_DATATYPE_H
#define MQBRIDGE_DLL_RECORDER_MPI_DATATYPE_H

#include "dll/recorder/mpi/library.h"
#include "dll/recorder/recorder.h"

/* The facts about a datatype that readers get. */
struct mqr_type {
  MPI_Datatype handle;
  uint32_t epoch;
  uint64_t size;        /* bytes of one element; 0: unknown */
  struct mqr_word name; /* "": it has none, or it is unknown */
};

/* Of this thread, valid until its next call. Never NULL. */
const struct mqr_type* mqr_type_of(MPI_Datatype handle);

#endif
