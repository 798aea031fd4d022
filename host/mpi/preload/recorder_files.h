#pragma once

#include "host/memory/platform.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge::preload {

/// The file name of every recorder, whichever MPI it was built for.
inline constexpr std::string_view recorder_name = "libmqbridge-recorder.so";

/// The recorder of this MPI (MpiLibrary::provider): DIRECTORY/recorder/PROVIDER/recorder_name in
/// the first of `directories` that has it (DllPolicy::own_directories).
std::optional<std::filesystem::path>
find_recorder(std::span<const std::filesystem::path> directories, std::string_view provider);

/// Lines that say how to make the queues of a job of this MPI visible, whatever its transport: run
/// it once more with the recorder. `platform`: of the job's processes.
std::string recorder_hint(std::span<const std::filesystem::path> directories,
                          std::string_view provider, const Platform& platform);

/// The command that makes a recorder for another MPI, in this program's source (docs/recorder.md).
std::string build_line();

} // namespace mqbridge::preload
