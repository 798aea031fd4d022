#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/target/auxv.h"
#include "rsp/result.h"

namespace mqbridge {

/// Decides the platform of a process from the process itself: word size and byte order from its
/// auxiliary vector, the architecture from the ELF header of the executable, found in memory below
/// its program headers (AT_PHDR). Errors: target.platform, memory.unreadable.
Result<Platform> probe_platform(Memory& memory, const AuxiliaryVector& auxv);

} // namespace mqbridge
