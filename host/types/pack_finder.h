#pragma once

#include "host/memory/platform.h"
#include "host/types/type_pack.h"
#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A pack and the file it came from.
struct FoundPack {
  std::filesystem::path path;
  TypePack pack;
};

/// The pack of exactly this build: directories in the order given, their *.types files by name.
/// nullopt: none. A directory that does not exist is empty. Error: pack.open or pack.syntax of a
/// file that could not be read, if no other one fits.
Result<std::optional<FoundPack>> find_pack(std::span<const std::filesystem::path> directories,
                                           std::string_view build_id);

/// The packs of other builds for the same architecture, byte order and word size: those of the same
/// version first, then those of other releases of its series ("4.1"), the nearest release first.
/// They may not fit: check each with MpiSupport::check_types before use. Errors: as find_pack.
Result<std::vector<FoundPack>>
find_packs_by_version(std::span<const std::filesystem::path> directories, std::string_view mpi,
                      std::string_view version, const Platform& platform);

} // namespace mqbridge
