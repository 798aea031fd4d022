#pragma once

#include "host/mpi/mpi_library.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <string>

namespace mqbridge::recorder {

// Facts about the process from struct mqr_root (dll/recorder/layout.h). Errors of all: those of
// Memory.

/// Whether the recorder records. Unknown if there is no such structure; the debug DLL then says
/// why.
Result<MpiState> read_state(const AddressSpace& space);

/// Unknown if the recorder was not told.
Result<ThreadLevel> read_thread_level(const AddressSpace& space);

/// MPI_Get_library_version, the first line. Empty: not known.
Result<std::string> read_library(const AddressSpace& space);
/// The launcher's name of the job. Empty: the recorder does not have it.
Result<std::string> read_job(const AddressSpace& space);

} // namespace mqbridge::recorder
