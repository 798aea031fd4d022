#pragma once

#include "host/mpi/mpi_support.h"

namespace mqbridge::openmpi {

extern const MpiFacts own_facts; ///< openmpi_facts.cpp

/// The entry for known_mpis().
const MpiSupport& support();

} // namespace mqbridge::openmpi
