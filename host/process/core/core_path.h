#pragma once

#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace mqbridge {

/// The names in a target `core:FILE[@EXECUTABLE]`.
struct CorePath {
  std::filesystem::path core;
  std::optional<std::filesystem::path> executable; ///< nullopt: to be found as the core names it
};

/// Parses the text behind "core:". File names may contain '@', too: the longest beginning that
/// names an existing file is the core; if there is none, the last '@' ends it.
///
/// Example: of "core@1@/opt/app@2/run" the core is "core@1" if this file exists, and neither
/// "core@1@/opt/app@2/run" nor "core@1@/opt/app" do.
///
/// Error target.syntax: no name stands before or behind the '@'.
Result<CorePath> parse_core_path(std::string_view text);

} // namespace mqbridge
