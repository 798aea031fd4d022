#pragma once

#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

namespace mqbridge::openmpi {

/// Sets the values of pml_ob1_unexpected_msgq_length and pml_ob1_posted_recvq_length, if they are
/// among the variables, to what MPI_T would read now: for each intracommunicator a length for each
/// of its ranks. If ob1 or its types are not known, their readings say why. Errors: those of Memory
/// and of find_type.
Result<void> add_ob1_lengths(ProcessVariables& variables, const AddressSpace& space);

} // namespace mqbridge::openmpi
