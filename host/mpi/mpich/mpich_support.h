#pragma once

#include "host/mpi/mpi_support.h"

namespace mqbridge::mpich {

extern const MpiFacts own_facts; ///< mpich_facts.cpp

/// The entry for known_mpis().
const MpiSupport& support();

} // namespace mqbridge::mpich
