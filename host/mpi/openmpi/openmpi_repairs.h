#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Corrects the values that Open MPI's debug DLL is known to get wrong (repairs.h): drops
/// operations that it left blank, and reads each request again (its address is in extra_text[0]),
/// in two pipelined reads (openmpi_requests.h):
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
/// Errors: those of Memory and of find_type.
Result<void> repair(std::vector<Communicator>& communicators, const AddressSpace& space);

} // namespace mqbridge::openmpi
