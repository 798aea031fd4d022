#pragma once

#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Adds the requests that Open MPI's debug DLL leaves out to the queues of sends and receives:
///
///   - MPI_Probe that waits, whose request stands on the stack: among the posted receives of ob1;
///   - what the MPI itself sends and receives inside a collective call, by negative tags: among all
///     requests that were ever made. A receive of these that ob1 does not have among the posted
///     ones has met its message (`matched`).
///
/// `objects`: of the communicators (communicator_objects()). What could not be looked through makes
/// its queues `error`: what was found, and what the DLL said, stays. false: so are those of sends
/// or receives of which the DLL looks at some only. Errors: those of Memory and of find_type.
Result<bool> add_hidden_requests(std::vector<Communicator>& communicators,
                                 const std::vector<Words::Value>& objects,
                                 const std::vector<CommunicatorChannels>& found,
                                 const Ob1Layout& layout, const UnshownRequest& request,
                                 Fields& fields, const AddressSpace& space);

} // namespace mqbridge::openmpi
