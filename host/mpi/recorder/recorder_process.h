#pragma once

#include "host/mpi/mpi_library.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <string>

namespace mqbridge::recorder {

// What struct mqr_root (dll/recorder/layout.h) says of the process. Errors of all: those of Memory.

/// Whether the recorder records. Unknown where that structure is not what lies there; the debug DLL
/// then says why.
Result<MpiState> read_state(const AddressSpace& space);

/// Unknown where the recorder was not told.
Result<ThreadLevel> read_thread_level(const AddressSpace& space);

/// MPI_Get_library_version, the first line. Empty: not known.
Result<std::string> read_library(const AddressSpace& space);
/// What the launcher calls the job. Empty: the recorder does not say.
Result<std::string> read_job(const AddressSpace& space);

} // namespace mqbridge::recorder
