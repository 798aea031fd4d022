#pragma once

#include "host/types/type_pack.h"
#include "rsp/result.h"

#include <string_view>

namespace mqbridge {

/// First line of every pack; the number is the version of the format.
inline constexpr std::string_view pack_signature = "mqbridge-types 1";

/// Parses a pack as host/mpi/openmpi/packs/README.md describes it. `name` is what errors call the
/// file. Error: pack.syntax (file and line).
Result<TypePack> parse_type_pack(std::string_view text, std::string_view name);

} // namespace mqbridge
