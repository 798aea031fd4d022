#pragma once

#include "host/disk/spawn.h"
#include "rsp/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::preload {

/// Where recorders are looked for, and what makes one that is not there.
struct RecorderSource {
  std::vector<std::filesystem::path> directories; ///< find_recorder()
  /// One that is taken whatever the command is, and need not be on this host: --recorder. Empty:
  /// none.
  std::string given = {};
  /// Makes the recorder of an MPI library; nullopt: nothing here can.
  std::function<Result<std::optional<std::filesystem::path>>(const std::filesystem::path& mpi)>
      make = [](const std::filesystem::path&) { return std::optional<std::filesystem::path>(); };
};

/// The variables that a command's environment needs so that its MPI programs are recorded.
/// LD_PRELOAD gets the recorder in front of its present value. A launcher may need a variable that
/// hands LD_PRELOAD on to other nodes (MpiSupport::hand_on). Empty if the command has a recorder
/// already: LD_PRELOAD names one, or the program brings it along.
///
/// The MPI is that of the first word of `command` that is an ELF program of an MPI; else that of
/// the first launcher among the words that only one MPI has. The recorder is one that was made for
/// that very library, else one for its MPI, else it is made. Words are files, or looked up in PATH.
/// Errors, each before anything was started: recorder.no_mpi, recorder.missing, recorder.platform,
/// recorder.linked, recorder.path, and those of `make`.
Result<std::vector<EnvironmentVariable>> recorder_environment(std::span<const std::string> command,
                                                              const RecorderSource& source);

} // namespace mqbridge::preload
