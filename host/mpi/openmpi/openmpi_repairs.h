#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// What Open MPI's debug DLL is known to get wrong, corrected (repairs.h): drops what it left
/// blank, and reads each request again. Errors: those of Memory and of find_type.
Result<void> repair(std::vector<Communicator>& communicators, const AddressSpace& space);

} // namespace mqbridge::openmpi
