#pragma once

#include "host/mqs/queues.h"
#include "host/mqs/wire.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <vector>

namespace mqbridge::openmpi {

/// Completes the communicators from their own objects (ompi_mpi_communicators, by context id):
/// context, kind, groups, which of them are internal, and whose their names are. The DLL knows a
/// member by the address of its object alone, and says 0 of each that MPI_COMM_WORLD has not by the
/// same address: processes of other jobs, and those that were only now talked to. Here a process is
/// known by its name (job and rank) where its address does not tell. Then the ranks of the
/// operations' peers are translated anew. A group that is not quite as it should be is not known.
/// What no object is found of stays as the DLL said. Groups have `most_members` in all: those
/// beyond are not known. Errors: those of Memory, and dwarf.corrupt.
Result<void> correct_communicators(std::vector<Communicator>& communicators,
                                   const AddressSpace& space,
                                   std::size_t most_members = wire::max_group_total);

} // namespace mqbridge::openmpi
