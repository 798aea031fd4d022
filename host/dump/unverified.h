#pragma once

#include "host/memory/platform.h"
#include "host/mqs/queues.h"

#include <vector>

namespace mqbridge {

/// For an Open MPI process whose repair() failed (host/mpi/repairs.h): the status of what is only
/// the debug DLL's word becomes `unknown`. Of the pointer req_complete the DLL reads the first byte
/// alone: on a little-endian target its "complete" may be an operation that a call waits for, on a
/// big-endian one its "pending" may be complete. What repair() has corrected already stays.
void doubt_unverified(std::vector<Communicator>& communicators, const Platform& platform);

} // namespace mqbridge
