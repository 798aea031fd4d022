#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Fills the queues of receives of a process whose messages libfabric carries (ompi/mca/mtl/ofi),
/// from Open MPI's own requests: pending receives, those inside of collectives among them. It does
/// not matter whether the provider or the network card matches them. Sends and unexpected messages
/// stay as they are: the request of a send tells neither peer nor tag, and messages are the
/// provider's.
///
/// Open MPI keeps what a receive asks for, and not which part of it is "any": a tag of 0 may be
/// MPI_ANY_TAG, so that it is not known. Nor is source 0, where the provider carries the sender's
/// rank in the tag. Not shown: receives that are complete, and persistent ones that are not
/// started.
///
/// UnshownOutcome::lacking says what is not read (transport.bypasses). Errors: those of Memory and
/// of find_type.
Result<UnshownOutcome> add_ofi_receives(std::vector<Communicator>& communicators,
                                        const UnshownRequest& request, const AddressSpace& space);

} // namespace mqbridge::openmpi
