#pragma once

#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <optional>
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

/// Messages that came for communicators that the process does not have: it has not made them yet,
/// or has freed them. ob1 keeps such messages apart (non_existing_communicator_pending), until the
/// communicator is made. Warning queue.no_communicator, with their number, sources, tags and
/// contexts; nullopt: there are none, or ob1's object is not known. Errors: those of Memory.
Result<std::optional<Error>> find_stray_messages(const Ob1Layout& layout,
                                                 const AddressSpace& space);

} // namespace mqbridge::openmpi
