#pragma once

#include "host/mqs/queues.h"

#include <string_view>
#include <vector>

namespace mqbridge {

/// Where no end of a list is to be believed, as with a process that ended while it was held: each
/// queue that was walked becomes state error for `reason`, in the words `why`, without a total.
/// What was found stays; what the MPI never provides, and what was not asked for, stays as it is.
void mark_doubtful(std::vector<Communicator>& communicators, QueueReason reason,
                   std::string_view why);

} // namespace mqbridge
