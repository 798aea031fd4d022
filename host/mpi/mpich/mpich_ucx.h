#pragma once

#include "host/mpi/mpich/mpich_pools.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::mpich {

/// Fills the queues of an MPICH without a debug DLL, whose messages UCX carries (device ch4:ucx):
/// pending sends and receives, those inside of collectives among them, and unexpected messages. In
/// a communicator of one process MPICH itself matches messages; they are read from its requests.
///
/// Not shown: eager sends that are complete for the program, persistent requests that are not
/// started, messages that MPI_Mprobe has taken, and what the network has not delivered yet.
///
/// If it fails, the queues are not to be believed. UnshownOutcome::lacking says why nothing can be
/// read (transport.bypasses), or queue.no_communicator, queue.nowhere. Errors: those of Memory, and
/// walk.unreadable.
Result<UnshownOutcome> add_ucx_operations(std::vector<Communicator>& communicators,
                                          const UnshownRequest& request, const OwnData& data,
                                          const AddressSpace& space);

} // namespace mqbridge::mpich
