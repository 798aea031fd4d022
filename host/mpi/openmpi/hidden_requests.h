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
///   - MPI_Probe calls that wait: their requests are on the stack. They are found among the posted
///     receives of ob1;
///   - the MPI's own sends and receives inside collective calls, which have negative tags. They are
///     found among all requests that ob1 has ever made;
///   - with UnshownRequest::all those of the program, too, which are found in the same place.
///
/// A pending receive that is not among the posted ones has met its message: it becomes `matched`.
///
/// `objects`: the communicators' objects (communicator_objects()). If something cannot be looked
/// through, its queues become `error`; they keep the DLL's operations and those that were found.
/// Returns false if the DLL does not look at all requests of a class: then the queues of this class
/// become `error`, too. Errors: those of Memory and of find_type.
Result<bool> add_hidden_requests(std::vector<Communicator>& communicators,
                                 const std::vector<Words::Value>& objects,
                                 const std::vector<CommunicatorChannels>& found,
                                 const Ob1Layout& layout, const UnshownRequest& request,
                                 Fields& fields, const AddressSpace& space);

} // namespace mqbridge::openmpi
