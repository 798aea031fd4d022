#pragma once

#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Fills the queues of unexpected messages, of which Open MPI's debug DLL shows none: for each
/// channel, by peer, first those that came in their order, then those that are before their turn.
/// A list that is not whole makes its queue `error`: what was found stays. Errors: those of Memory.
Result<void> add_unexpected_messages(std::vector<Communicator>& communicators,
                                     const std::vector<CommunicatorChannels>& found,
                                     const Ob1Layout& layout, const UnshownRequest& request,
                                     const AddressSpace& space);

} // namespace mqbridge::openmpi
