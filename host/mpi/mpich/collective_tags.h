#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge::mpich {

/// The collective for which MPICH uses a tag (include/mpir_tags.h), in a context of collectives.
Collective collective_of(std::int64_t tag);

} // namespace mqbridge::mpich
