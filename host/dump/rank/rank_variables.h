#pragma once

#include "host/dump/rank/rank_mpi.h"
#include "host/dump/values/variable_filter.h"
#include "host/mpi/variables.h"
#include "host/process/stopped_process.h"
#include "rsp/result.h"

namespace mqbridge {

/// The variables of a stopped process whose MPI was identified. They come from a recorder,
/// completed by the MPI's own memory, and only those that `filter` asks for. It is no error if only
/// one of the two can be read. Errors, if neither can: variables.*, those of find_types() and of
/// Memory.
Result<ProcessVariables> read_rank_variables(StoppedProcess& process, RankMpi& mpi,
                                             const VariableFilter& filter, Warnings& warnings);

} // namespace mqbridge
