#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Sets Operation::waited. A call that waits for requests puts the address of its ompi_wait_sync_t
/// (opal/threads/wait_sync.h) into req_complete of each. It counts there how many must complete:
/// all that are left in MPI_Waitall, one in MPI_Waitany and MPI_Waitsome. If the count is one, and
/// one operation is visible, nothing tells which of these calls it is. A process that may not use
/// threads waits for a single request without such an object: then nothing is known. Call it when
/// the queues have all visible operations. Errors: those of Memory and of find_type.
Result<void> find_wait_groups(std::vector<Communicator>& communicators, const AddressSpace& space);

} // namespace mqbridge::openmpi
