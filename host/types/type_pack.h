#pragma once

#include "host/memory/platform.h"
#include "host/types/types.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mqbridge {

/// A pack: the layouts that one build of an MPI library needs, as a small text file. Format:
/// host/mpi/openmpi/packs/README.md. Keyed by the library's build-id.
struct TypePack {
  std::string mpi = {};      ///< "openmpi"
  std::string version = {};  ///< "4.1.4"
  std::string library = {};  ///< "libmpi.so.40"
  std::string build_id = {}; ///< lower-case hexadecimal; empty if made for no build in particular
  std::string architecture = {};
  ByteOrder byte_order = ByteOrder::little;
  int pointer_size = 8;
  std::vector<TypeLayout> types = {};
};

/// Errors: pack.open, pack.syntax (file and line).
Result<TypePack> read_type_pack(const std::filesystem::path& path);
std::string write_type_pack(const TypePack& pack);
std::shared_ptr<TypeSource> type_source(TypePack pack);

} // namespace mqbridge
