#pragma once

#include "host/files/path_map.h"
#include "host/memory/platform.h"
#include "host/mqs/checked_dll.h"
#include "rsp/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// Where a debug DLL may come from.
struct DllPolicy {
  static constexpr std::string_view none = "none"; ///< --dll none: it comes from nowhere

  std::optional<std::filesystem::path> given;              ///< --dll
  std::map<std::string, std::filesystem::path> configured; ///< "openmpi" or "openmpi 4.1.4" -> path
  std::vector<PathRule> path_map;
  std::vector<std::filesystem::path> allowed_directories; ///< the user's, beside root-owned ones
  /// Where this program's own debug DLL lies, the one for the recorder: trusted as the program is.
  std::vector<std::filesystem::path> own_directories;
};

/// What a process says of its debug DLL. All of it is read from the process, and not trusted.
struct TargetsDll {
  std::string_view name;    ///< MPIR_dll_name; may be empty
  bool name_ends = true;    ///< false: no NUL where it should be, so that it is garbage
  std::string_view mpi;     ///< MpiLibrary::provider: a key of the configuration
  std::string_view version; ///< the second half of that key; may be empty
  bool is_ours = false;     ///< the one for the recorder is asked for
  // Of the MPI, not of the process:
  std::string_view install_hint = {};             ///< how its DLL gets onto this host
  std::vector<std::string_view> directories = {}; ///< where hosts keep DLLs, below /usr/lib, ...
};

struct DllChoice {
  std::filesystem::path path;
  /// "--dll", "configuration", "MPIR_dll_name", "same file name on this host", "part of mqbridge"
  std::string source;
  std::vector<Error> warnings; ///< dll.version_differs, dll.unsafe
  /// What the rules were applied to, where a process named it. nullopt: it is the user's word, or
  /// part of this program.
  std::optional<CheckedDll> checked = {};
  /// dll.version_differs: the user named it, and its file says that it was made for another release
  /// of the MPI (4.1, not 5.0). No queue that it shows is to be believed.
  std::optional<Error> other_release = {};
};

/// Which debug DLL to load for a process, and never one that somebody else could have put there:
///
/// - What the user gave, by --dll or the configuration, is loaded. dll.unsafe warns where somebody
///   other than root and this user could change it, a directory above it, or a library that it
///   brings along.
/// - For a recorder (`is_ours`): the one that is part of this program, whatever the process says.
/// - What the process names is loaded only where root alone could change it: the file, all
///   directories above it (links followed), and every place where its dependences are searched; or
///   where all of this is in an allowed directory. It must be an absolute path, a file, for this
///   host's architecture, and export the interface: no constructor runs to find that out. It must
///   not say that it was made for another release of the MPI.
///
/// Nothing but regular files is ever opened. Errors, each with the rule that refused and the line
/// that mends it: dll.not_found, dll.untrusted, dll.not_elf, dll.architecture,
/// dll.missing_function, dll.version_differs.
Result<DllChoice> choose_dll(const DllPolicy& policy, const TargetsDll& target);

/// The same for a DLL that is asked for handles. In this order: the DLL of --dll; the DLL that is
/// part of this program, if it knows this MPI (`ours_knows`); of the DLLs that the process names
/// (mpidbg_dll_locations) the first one that the rules let pass.
Result<DllChoice> choose_handle_dll(const DllPolicy& policy, std::span<const TargetsDll> named,
                                    bool ours_knows);

} // namespace mqbridge
