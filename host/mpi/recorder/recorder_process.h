#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/mpi/mpi_library.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

namespace mqbridge::recorder {

/// Whether the recorder records: struct mqr_root (dll/recorder/layout.h). Unknown where that is
/// not what lies there; the debug DLL then says why. Errors: those of Memory.
Result<MpiState> read_state(ImageSet& images, Memory& memory, const Platform& platform);

} // namespace mqbridge::recorder
