#pragma once

#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "host/process/process_source.h"
#include "rsp/result.h"

namespace mqbridge::openmpi {

/// What MPI_T would say in this process of the variables that Open MPI has registered by now, from
/// its own tables: all but the values of most performance variables, which functions of the process
/// compute; those of ob1's queues are there (ob1_lengths.h). A synonym has the value of what it
/// stands for. A variable without a valid object is left out, as MPI_T leaves it out; one that
/// cannot be read is too, and a warning (variables.unreadable) counts those. Errors: those of
/// find_mca_layout() and find_mca_tables().
Result<ProcessVariables> read_mca_variables(const AddressSpace& space, Warnings& warnings);

} // namespace mqbridge::openmpi
