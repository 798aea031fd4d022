#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge::openmpi {

/// MPI_ANY_TAG. Lower tags belong to messages that MPI sends itself.
inline constexpr std::int64_t any_tag = -1;

/// The collective for which Open MPI uses a tag (ompi/mca/coll/base/coll_tags.h). `none` for tags
/// from 0 on and for MPI_ANY_TAG, which are the program's; `internal` for negative tags of no
/// collective.
Collective collective_of(std::int64_t tag);

} // namespace mqbridge::openmpi
