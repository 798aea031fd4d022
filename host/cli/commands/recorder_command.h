#pragma once

#include "host/cli/commands/execute.h"
#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <stop_token>

namespace mqbridge {

/// A recorder for the MPI library `mpi`, by the mpicc of PATH, checked with a small job and kept
/// (preload::own_recorders()). It says on stderr what it does. nullopt: mpicc is not there, or is
/// another MPI's. Errors: as `mqbridge recorder make`.
Result<std::optional<std::filesystem::path>> make_recorder_for(const std::filesystem::path& mpi,
                                                               const Installation& installation);

} // namespace mqbridge
