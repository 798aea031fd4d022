#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::mpich {

/// Adds what MPICH's own lists have of its collectives and the debug DLL skips: receives that a
/// collective has posted, and messages of collectives that have arrived. The context id tells them
/// from the program's own, and the tag which collective it is. Those in the communicators that
/// MPICH makes of a node's processes, and of the first process of each node, stand in the
/// communicator that these were made of. Device ch3 up to 4.0; later ones list the program's own
/// alone. Errors: those of Memory, and dwarf.corrupt.
Result<UnshownOutcome> add_insides(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::mpich
