#pragma once

#include "host/mpi/mpich/mpich_layout.h"
#include "host/mqs/queues.h"
#include "host/mqs/wire.h"

#include <cstddef>
#include <map>
#include <vector>

namespace mqbridge::mpich {

/// Facts from a communicator's object, beside those of the DLL.
struct CommunicatorFacts {
  std::int64_t context = 0;         ///< used for sending
  std::int64_t receive_context = 0; ///< differs in an intercommunicator
};

/// By Communicator::id, which MPICH's DLL sets to the object's address.
using FactsById = std::map<TargetAddress, CommunicatorFacts>;

/// Completes the communicators from their own objects. Communicator::group comes from the table of
/// connections that device ch3 keeps by rank. It is compared with the table of MPI_COMM_WORLD,
/// which is known by its context id. An intercommunicator gets its remote group and its local size:
/// the DLL gives the remote size. Communicators that MPICH made for itself (by node,
/// MPI_ICOMM_WORLD, the local side of an intercommunicator) are dropped, unless something is queued
/// in them. A group that is not quite right stays unknown; so do further groups once `most_members`
/// members are known. Errors: those of Memory.
Result<FactsById> correct_communicators(std::vector<Communicator>& communicators,
                                        const Layout& layout, const AddressSpace& space,
                                        std::size_t most_members = wire::max_group_total);

} // namespace mqbridge::mpich
