#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge::openmpi {

/// For whose sake Open MPI uses a tag (ompi/mca/coll/base/coll_tags.h): `none` of tags from 0 on
/// and of MPI_ANY_TAG, which are the program's. `internal` of negative tags that no collective has.
Collective collective_of(std::int64_t tag);

} // namespace mqbridge::openmpi
