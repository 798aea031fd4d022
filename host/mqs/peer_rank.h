#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <optional>

namespace mqbridge {

/// The rank in MPI_COMM_WORLD of the peer that has this local rank; in an intercommunicator peers
/// are of the remote group. nullopt: not known, or of another job.
std::optional<std::int64_t> world_rank_of_peer(const Communicator& communicator,
                                               const MaybeInt& local);

} // namespace mqbridge
