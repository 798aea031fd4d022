#pragma once

#include "host/image/image_set.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/mqs/mpi_library.h"
#include "rsp/result.h"

namespace mqbridge {

/// Where a process stands between MPI_Init and MPI_Finalize, as its MPI library keeps it. Unknown
/// for a library whose way of keeping it is not known. Errors: those of Memory.
Result<MpiState> read_mpi_state(const MpiLibrary& mpi, ImageSet& images, Memory& memory,
                                const Platform& platform);

} // namespace mqbridge
