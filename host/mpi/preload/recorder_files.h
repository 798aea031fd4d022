#pragma once

#include "host/memory/platform.h"
#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge::preload {

/// The file name of every recorder, whichever MPI it was built for.
inline constexpr std::string_view recorder_name = "libmqbridge-recorder.so";

/// DIRECTORY/recorder/OWNER/recorder_name in the first of `directories` that has it. `owner`: an
/// MPI (MpiLibrary::provider), or one of its libraries (recorder_owner()).
std::optional<std::filesystem::path>
find_recorder(std::span<const std::filesystem::path> directories, std::string_view owner);

/// What stands for an MPI library among recorders: its build-id, else a checksum of its contents;
/// the same for copies of it on other hosts. Error: elf.open, elf.not_elf, elf.corrupt.
Result<std::string> recorder_owner(const std::filesystem::path& mpi);

/// LD_PRELOAD cannot hold every path: ld.so takes spaces and colons for ends of names, and expands
/// what begins with '$'. Error: recorder.path.
Result<void> check_preloadable(const std::filesystem::path& recorder);

/// Where this user's own recorders are kept, as a directory of find_recorder():
/// $XDG_DATA_HOME/mqbridge, else ~/.local/share/mqbridge; nullopt where neither is set to an
/// absolute path.
std::optional<std::filesystem::path> own_recorders();

/// Lines that say how to make the queues of a job of this MPI visible, whatever its transport: run
/// it once more with the recorder. `platform`: of the job's processes.
std::string recorder_hint(std::span<const std::filesystem::path> directories,
                          std::string_view provider, const Platform& platform);

/// The command that makes a recorder for an MPI that has none.
inline constexpr std::string_view make_line = "mqbridge recorder make --mpicc MPICC";
/// The command that runs a job once more, with a recorder.
inline constexpr std::string_view rerun_line =
    "mqbridge run --record-queues --timeout 10m -- mpirun ...";

} // namespace mqbridge::preload
