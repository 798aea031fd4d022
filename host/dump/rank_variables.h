#pragma once

#include "host/dump/rank_mpi.h"
#include "host/dump/variable_filter.h"
#include "host/mpi/variables.h"
#include "host/process/stopped_process.h"
#include "rsp/result.h"

namespace mqbridge {

/// The variables of a stopped process whose MPI was identified: what a recorder keeps of them
/// first, completed by what the MPI's own memory says; of those what `filter` asks for. What only
/// one of the two can say is no error. Errors: variables.*, those of find_types() and of Memory,
/// where neither can.
Result<ProcessVariables> read_rank_variables(StoppedProcess& process, RankMpi& mpi,
                                             const VariableFilter& filter, Warnings& warnings);

} // namespace mqbridge
