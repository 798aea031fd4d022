#include <mpi.h>

#if MPI_VERSION >= 4
#define MQR_LARGE
#include "dll/recorder/mpi/unqueued.c"
#else
typedef int mqr_no_large_unqueued; /* C knows no empty file */
#endif
