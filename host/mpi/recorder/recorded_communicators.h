#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::recorder {

/// Adds the recorder's facts about communicators and threads: kinds and groups, counters,
/// nonblocking collectives under way, and the threads' calls. Reports times at which the recorder
/// did not record (recorder.off, recorder.gaps), and damage (queue.damaged): then no queue counts
/// as whole. Errors: those of Memory.
Result<UnshownOutcome> add_recorded(std::vector<Communicator>& communicators,
                                    const AddressSpace& space);

} // namespace mqbridge::recorder
