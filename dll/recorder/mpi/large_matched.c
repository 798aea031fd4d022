#include <mpi.h>

#if MPI_VERSION >= 4
#define MQR_LARGE
#include "dll/recorder/mpi/matched.c"
#else
typedef int mqr_no_large_matched; /* C knows no empty file */
#endif
