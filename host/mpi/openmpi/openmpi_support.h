#pragma once

#include "host/mpi/mpi_support.h"

namespace mqbridge::openmpi {

/// The entry for known_mpis().
const MpiSupport& support();

} // namespace mqbridge::openmpi
