#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::mpich {

/// Adds operations of collectives from MPICH's own lists, which the debug DLL skips: receives that
/// a collective has posted, and messages of collectives that have arrived. The context id tells
/// them from the program's own, and the tag names the collective. MPICH makes communicators of a
/// node's processes, and of the first process of each node; operations in these are shown in the
/// communicator from which they were made. Device ch3 up to 4.0; later versions list the program's
/// own operations alone. Errors: those of Memory, and dwarf.corrupt.
Result<UnshownOutcome> add_insides(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::mpich
