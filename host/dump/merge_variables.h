#pragma once

#include "host/mpi/variables.h"

namespace mqbridge {

/// What a recorder keeps of a process, completed by what the MPI's own memory says while the
/// process stands. The memory's values are newer: they replace the recorder's, where the same
/// variable (kind, name and class) has one of the same object. Who set a variable comes from the
/// memory; all else that both know from the recorder, which asked MPI_T. Variables that only the
/// memory has come last.
ProcessVariables merge_variables(ProcessVariables recorded, ProcessVariables memory);

} // namespace mqbridge
