#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge {

/// Corrects the DLL's values where that needs the target's memory or knowledge about the MPI. The
/// raw values stay in Operation::raw, and Operation::repairs names each correction. walk_queues()
/// has made these already (interpret.h):
///
///   - sign_extension: 32-bit ranks and tags that came unsigned, the wildcards among them;
///   - send_rank, global_rank: ranks that were not, or wrongly, translated to MPI_COMM_WORLD.
///
/// Drops MPI_COMM_NULL (size 0, rank 4294967294). The rest is done by the MPI's own repair
/// (MpiSupport::repair; NAME_repairs.h in its folder says what it corrects). Call while the target
/// is still stopped. Errors: those of Memory, and dwarf.corrupt.
Result<void> repair(std::vector<Communicator>& communicators, const MpiLibrary& mpi,
                    const AddressSpace& space);

} // namespace mqbridge
