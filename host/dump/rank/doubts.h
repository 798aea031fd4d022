#pragma once

#include "host/memory/platform.h"
#include "host/mqs/queues.h"

#include <string_view>
#include <vector>

namespace mqbridge {

/// No end of a list is to be believed, for example because the process ended while it was held.
/// Each queue that was walked becomes state error for `reason`, in the words `why`, without a
/// total. Operations that were found stay; queues that the MPI never provides, or that were not
/// asked for, stay as they are.
void mark_doubtful(std::vector<Communicator>& communicators, QueueReason reason,
                   std::string_view why);

/// For an Open MPI process whose repair() failed (host/mpi/repairs.h): a status that only the debug
/// DLL reports becomes `unknown`. The DLL reads only the first byte of the pointer req_complete: on
/// a little-endian target its "complete" may be an operation that a call waits for, on a big-endian
/// one its "pending" may be complete. Statuses that repair() has corrected already stay.
void doubt_unverified(std::vector<Communicator>& communicators, const Platform& platform);

} // namespace mqbridge
