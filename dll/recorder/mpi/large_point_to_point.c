#include <mpi.h>

#if MPI_VERSION >= 4
#define MQR_LARGE
#include "dll/recorder/mpi/point_to_point.c"
#else
typedef int mqr_no_large_point_to_point; /* C knows no empty file */
#endif
