#pragma once

#include "host/memory/platform.h"
#include "rsp/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// Where a debug DLL may come from.
struct DllPolicy {
  std::optional<std::filesystem::path> given;              ///< --dll
  std::map<std::string, std::filesystem::path> configured; ///< "openmpi" or "openmpi 4.1.4" -> path
  std::vector<std::pair<std::string, std::string>> path_map;
  std::vector<std::filesystem::path> allowed_directories; ///< the user's, beside root-owned ones
  /// Where this program's own debug DLL lies, the one for the recorder: trusted as the program is.
  std::vector<std::filesystem::path> own_directories;
};

struct DllChoice {
  std::filesystem::path path;
  /// "--dll", "configuration", "MPIR_dll_name", "same file name on this host", "part of mqbridge"
  std::string source;
  std::optional<Error> warning;
};

/// `dll_name` is MPIR_dll_name as the target holds it: not trusted. Used only from a root-owned
/// directory that only root can write (all parents too), or an allowed one; not at all where `mpi`
/// is "recorder", whose DLL is part of this program. `mpi` and `version` key the configuration.
/// Errors: dll.not_found, dll.untrusted, dll.architecture, dll.not_elf; each with the line that
/// mends it.
Result<DllChoice> choose_dll(const DllPolicy& policy, std::string_view dll_name,
                             std::string_view mpi, std::string_view version);

} // namespace mqbridge
