#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <optional>
#include <vector>

namespace mqbridge::openmpi {

/// Fills the queues of a process whose messages UCX carries (ompi/mca/pml/ucx), of which the debug
/// DLL shows none: pending sends and receives, those inside of collectives among them, and
/// unexpected messages. A queue that cannot be read to its end is `error`; what was found stays.
///
/// Not shown: eager sends that are complete for the program, persistent requests that are not
/// started, messages that MPI_Mprobe has taken, and what the network has not delivered yet.
///
/// To be called before the queues are `available`. If it fails, they are not to be believed.
/// UnshownOutcome::lacking says why nothing can be read (transport.bypasses), or
/// queue.no_communicator. Errors: those of Memory and of find_type.
Result<UnshownOutcome> add_ucx_operations(std::vector<Communicator>& communicators,
                                          const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::openmpi
