#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::recorder {

/// Adds what the recorder knows of communicators and threads beside the queues: kinds and groups,
/// counters, nonblocking collectives under way, and what threads are in. Marks what the recorder
/// says it did not see (recorder.off, recorder.gaps), and what is damaged (queue.damaged): then
/// nothing is claimed to be whole. Errors: those of Memory.
Result<UnshownOutcome> add_recorded(std::vector<Communicator>& communicators,
                                    const AddressSpace& space);

} // namespace mqbridge::recorder
