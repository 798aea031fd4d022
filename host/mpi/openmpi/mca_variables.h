#pragma once

#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "host/process/process_source.h"
#include "rsp/result.h"

namespace mqbridge::openmpi {

/// The variables that Open MPI has registered by now, as MPI_T would show them in this process,
/// from Open MPI's own tables. Most performance variables have no value, since functions of the
/// process compute them; those of ob1's queues have one (ob1_lengths.h). A synonym has the value of
/// the variable that it stands for. A variable without a valid object is left out, as MPI_T does; a
/// variable that cannot be read is left out, too, and counted by a warning (variables.unreadable).
/// Errors: those of find_mca_layout() and find_mca_tables().
Result<ProcessVariables> read_mca_variables(const AddressSpace& space, Warnings& warnings);

} // namespace mqbridge::openmpi
