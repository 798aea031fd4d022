#pragma once

#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Fills the queues of unexpected messages, of which Open MPI's debug DLL shows none. For each
/// channel, by peer, it lists first the messages that came in order, then those that came before
/// their turn. An incomplete list makes its queue `error`; messages that were found stay. Errors:
/// those of Memory.
Result<void> add_unexpected_messages(std::vector<Communicator>& communicators,
                                     const std::vector<CommunicatorChannels>& found,
                                     const Ob1Layout& layout, const UnshownRequest& request,
                                     const AddressSpace& space);

} // namespace mqbridge::openmpi
