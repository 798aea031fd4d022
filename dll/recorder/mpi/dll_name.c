#include "dll/recorder/mpi/library.h"

/* Open MPI names its own debug DLL. An MPI that does the same is told apart by whoever builds for
 * it, with -DMQR_MPI_NAMES_ITS_DLL. */
#if !defined(OPEN_MPI) && !defined(MQR_MPI_NAMES_ITS_DLL)
#include "dll/recorder/dll_name.h"
#else
typedef int mqr_no_dll_name; /* C knows no empty file */
#endif
