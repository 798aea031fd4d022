#pragma once

#include "host/mqs/queues.h"

#include <vector>

namespace mqbridge {

/// For a process that ended while it was held: each queue that was walked becomes state error,
/// reason target_died, without a total. What was found stays; what the MPI never provides, and what
/// was not asked for, stays as it is.
void mark_target_died(std::vector<Communicator>& communicators);

} // namespace mqbridge
