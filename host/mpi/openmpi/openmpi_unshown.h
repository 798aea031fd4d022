#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Adds operations and facts from Open MPI's own memory that its debug DLL does not show:
/// unexpected messages, MPI_Probe, the operations inside of collectives, the counters of each
/// channel. For these the transport must be ob1, with known types (ob1_types.h). It also adds which
/// calls wait for which operations, for which ompi_wait_sync_t is enough. Call it after repair().
/// Errors: those of Memory and of find_type.
Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::openmpi
