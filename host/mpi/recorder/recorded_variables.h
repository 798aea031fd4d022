#pragma once

#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "host/process/process_source.h"
#include "rsp/result.h"

#include <optional>

namespace mqbridge::recorder {

/// The variables of MPI_T as the recorder in the process keeps them
/// (dll/recorder/variables_layout.h). nullopt: it keeps none, and a warning says why; or there is
/// no recorder. Errors: variables.corrupt; those of Memory.
Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                       Warnings& warnings);

} // namespace mqbridge::recorder
