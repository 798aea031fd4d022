#pragma once

#include "host/disk/spawn.h"
#include "rsp/result.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::preload {

/// The variables that a command's environment needs so that its MPI programs are recorded.
/// LD_PRELOAD gets the recorder in front of its present value. A launcher may need a variable that
/// hands LD_PRELOAD on to other nodes (MpiSupport::hand_on). Empty if the command has a recorder
/// already: LD_PRELOAD names one, or the program brings it along.
///
/// The MPI is that of the first word of `command` that is an ELF program of a known MPI; else that
/// of the first launcher among the words that only one MPI has. `directories`: find_recorder().
/// Words are files, or looked up in PATH. Errors, each before anything was started:
/// recorder.no_mpi, recorder.missing, recorder.platform, recorder.linked, recorder.path.
Result<std::vector<EnvironmentVariable>>
recorder_environment(std::span<const std::string> command,
                     std::span<const std::filesystem::path> directories);

} // namespace mqbridge::preload
