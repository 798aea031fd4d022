#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::mpich {

/// What MPICH's debug DLL is known to get wrong, corrected (repairs.h): from the process's own
/// lists and objects (mpich_communicators.h, mpich_requests.h). Errors: those of Memory, and
/// dwarf.corrupt.
Result<void> repair(std::vector<Communicator>& communicators, const AddressSpace& space);

} // namespace mqbridge::mpich
