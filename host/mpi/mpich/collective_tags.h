#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge::mpich {

/// The meaning of the lowest bits of a context id (include/mpir_contextid.h).
namespace context {
inline constexpr int collective = 1;
inline constexpr int node = 2;     ///< the processes of a node
inline constexpr int roots = 4;    ///< the first process of each node
inline constexpr int own_side = 8; ///< of an intercommunicator
inline constexpr int all = 15;
} // namespace context

/// The collective for which MPICH uses a tag (include/mpir_tags.h), in a context of collectives.
Collective collective_of(std::int64_t tag);

} // namespace mqbridge::mpich
