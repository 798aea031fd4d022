#pragma once

#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <vector>

namespace mqbridge::openmpi {

/// How much of the program's requests the debug DLL has seen.
enum class DllSight : std::uint8_t {
  all,      ///< as far as can be told
  not_all,  ///< it does not look at some of the blocks that requests lie in
  mistaken, ///< it does not list receives that stand in ob1's lists
};

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
/// If the DLL does not see all requests, queues become `error`, too. Errors: those of Memory and of
/// find_type.
Result<DllSight> add_hidden_requests(std::vector<Communicator>& communicators,
                                     const std::vector<Words::Value>& objects,
                                     const std::vector<CommunicatorChannels>& found,
                                     const Ob1Layout& layout, const UnshownRequest& request,
                                     Fields& fields, const AddressSpace& space);

} // namespace mqbridge::openmpi
