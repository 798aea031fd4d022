#pragma once

#include "host/mpi/mpi_library.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

namespace mqbridge::recorder {

/// Whether the recorder records: struct mqr_root (dll/recorder/layout.h). Unknown where that is
/// not what lies there; the debug DLL then says why. Errors: those of Memory.
Result<MpiState> read_state(const AddressSpace& space);

} // namespace mqbridge::recorder
