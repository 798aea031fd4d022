#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge {

/// Turns what the DLL said into what is true, where that needs the target's
/// memory or the MPI's peculiarities. The raw values stay in Operation::raw; each correction is
/// named in Operation::repairs. Those that walk_queues() has made already (interpret.h):
///
///   - sign_extension: 32-bit ranks and tags that came unsigned, the wildcards among them;
///   - send_rank, global_rank: ranks that were not, or wrongly, translated to MPI_COMM_WORLD.
///
/// Made here, for Open MPI, from each request itself (its address is in extra_text[0]), in two
/// pipelined reads (openmpi_requests.h):
///
///   - status: req_complete at pointer width: 0 pending, 1 complete, anything else waited for. A
///     persistent request that is not started is inactive, which the DLL calls complete;
///   - kind: what MPI_Mprobe and MPI_Improbe made, whose type the DLL does not know;
///   - delivery: whether the copy of a buffered send has left;
///   - length: of a matched receive the DLL gives another number than count times size;
///   - actual_length: until a matched receive is complete the DLL gives the status' byte count,
///     which is not set yet;
///   - global_rank: peers of an intercommunicator, which the DLL looks up in the local group, and
///     of every group that it translates wrongly (openmpi_communicators.h);
///   - text: lines that give the datatype's size as a count, and a name cut to 4 letters.
///
/// Made here for MPICH, from the process's own lists and objects: mpich_communicators.h and
/// mpich_requests.h. For the recorder, Operation::call, count and datatype are taken from the lines
/// of its DLL. Drops MPI_COMM_NULL (size 0, rank 4294967294), and what Open
/// MPI's DLL left blank. Call while the target is still stopped. Errors: those of Memory, and
/// dwarf.corrupt.
Result<void> repair(std::vector<Communicator>& communicators, const MpiLibrary& mpi,
                    const AddressSpace& space);

} // namespace mqbridge
