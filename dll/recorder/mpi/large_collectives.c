#include <mpi.h>

#if MPI_VERSION >= 4
#define MQR_LARGE
#include "dll/recorder/mpi/collectives.c"
#else
typedef int mqr_no_large_collectives; /* C knows no empty file */
#endif
