#pragma once

#include "host/mqs/dll_policy.h"
#include "rsp/result.h"

#include <filesystem>

namespace mqbridge {

/// The contents of the file of --config.
struct Config {
  /// [dll]: "openmpi" or "openmpi 4.1.4" -> path.
  std::map<std::string, std::filesystem::path> dlls;
  /// [dll] allowed_directories: debug DLLs named by a target may be loaded from there too.
  std::vector<std::filesystem::path> allowed_directories;
};

/// Reads a TOML file:
///
///     [dll]
///     openmpi = "/opt/mpi/lib/openmpi/libompi_dbg_msgq.so"
///     "openmpi 4.1.4" = "/usr/lib/libompi_dbg_msgq.so"
///     allowed_directories = ["/opt/mpi/lib/openmpi"]
///
/// Paths must be absolute: the choice of a DLL must not depend on the working directory. An unknown
/// key is an error: a misspelt rule would silently have no effect. Errors: config.open,
/// config.syntax, config.unknown_key, config.value; each names file and line.
Result<Config> read_config(const std::filesystem::path& path);

} // namespace mqbridge
