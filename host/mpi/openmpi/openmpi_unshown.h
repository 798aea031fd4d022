#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Adds what Open MPI's own memory says and its debug DLL does not show, where the transport is ob1
/// and its types are known (ob1_types.h): unexpected messages, MPI_Probe, what is inside of
/// collectives, the counters of each channel. And what waits for what, for which ompi_wait_sync_t
/// is enough. Call it after repair(). Errors: those of Memory and of find_type.
Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::openmpi
