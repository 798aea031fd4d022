#pragma once

#include "host/mqs/queues.h"
#include "host/mqs/wire.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <vector>

namespace mqbridge::openmpi {

/// Completes the communicators from their own objects (ompi_mpi_communicators, by context id):
/// context, kind, groups, which of them are internal, and whether the program gave the name. The
/// DLL knows a member only by the address of its object, and says 0 for each member that
/// MPI_COMM_WORLD does not have at the same address: processes of other jobs, and processes that
/// this one has only now talked to. Here a process whose address does not tell is known by its name
/// (job and rank). Then the ranks of the operations' peers are translated again. A group that is
/// not quite right is not known. A communicator without an object stays as the DLL described it.
/// Groups have `most_members` in all; further ones are not known. Errors: those of Memory, and
/// dwarf.corrupt.
Result<void> correct_communicators(std::vector<Communicator>& communicators,
                                   const AddressSpace& space,
                                   std::size_t most_members = wire::max_group_total);

} // namespace mqbridge::openmpi
