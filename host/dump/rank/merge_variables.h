#pragma once

#include "host/mpi/variables.h"

namespace mqbridge {

/// Completes the variables that a recorder keeps of a process by those in the MPI's own memory,
/// read while the process stands still. The memory's values are newer: they replace the recorder's
/// if the same variable (kind, name and class) has one for the same object. The memory tells who
/// set a variable. All other facts that both have come from the recorder, which asked MPI_T.
/// Variables that only the memory has come last.
ProcessVariables merge_variables(ProcessVariables recorded, ProcessVariables memory);

} // namespace mqbridge
