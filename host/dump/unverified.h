#pragma once

#include "host/memory/platform.h"
#include "host/mqs/queues.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge {

/// Leaves out the operations of an Open MPI process whose status is only the debug DLL's word, for
/// when repair() failed with `why` (host/mqs/repairs.h). Of the pointer req_complete the DLL reads
/// the first byte alone: on a little-endian target its "complete" may be an operation that a call
/// waits for, on a big-endian one its "pending" may be complete. What repair() has corrected
/// already stays. A queue that loses operations becomes state error and says how many;
/// Queue::total keeps them.
void leave_out_unverified(std::vector<Communicator>& communicators, const Platform& platform,
                          const Error& why);

} // namespace mqbridge
