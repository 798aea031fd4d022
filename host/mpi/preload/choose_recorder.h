#pragma once

#include "host/disk/spawn.h"
#include "rsp/result.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::preload {

/// What the processes of a command have to find in their environment so that its MPI programs are
/// recorded: LD_PRELOAD, the recorder in front of what is there; and, for Open MPI's launcher, the
/// word that passes it on to other nodes, unless the command passes on variables in its own way
/// (Open MPI takes but one of both). Empty where the command has a recorder already: LD_PRELOAD
/// names one, or the program brings it along.
///
/// Which MPI: that of the first word of `command` that is an ELF program of a known MPI; else that
/// of the first launcher among the words that only one MPI has. `directories`: find_recorder().
/// Words are files, or looked up in PATH. Errors, each before anything was started:
/// recorder.no_mpi, recorder.missing, recorder.platform, recorder.linked, recorder.path.
Result<std::vector<EnvironmentVariable>>
recorder_environment(std::span<const std::string> command,
                     std::span<const std::filesystem::path> directories);

} // namespace mqbridge::preload
