#include <mpi.h>

#if MPI_VERSION >= 4
#define MQR_LARGE
#include "dll/recorder/mpi/collectives.c"
#include "dll/recorder/mpi/files.c"
#include "dll/recorder/mpi/matched.c"
#include "dll/recorder/mpi/point_to_point.c"
#include "dll/recorder/mpi/unqueued.c"
#else
typedef int mqr_no_large_counts; /* C knows no empty file */
#endif
