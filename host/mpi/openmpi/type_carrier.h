#pragma once

#include "host/types/indexer_options.h"
#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// What `mqbridge types make` needs. A carrier is a small shared object compiled with -g against
/// the MPI's own internal headers: it holds the exact layouts that a stripped library lacks.
struct CarrierRequest {
  std::string mpi = "openmpi";
  /// --cc, split into words; a cross compiler for a foreign target.
  std::vector<std::string> compiler = {"cc"};
  /// --include; empty: asked from mpicc, then the usual places.
  std::vector<std::filesystem::path> include_directories;
  /// --source: Open MPI's own source, for the types that are private to ob1 (ob1_types()). nullopt:
  /// the carrier or pack goes without.
  std::optional<std::filesystem::path> source = std::nullopt;
  /// A name that ends in .types: the carrier is made for the time of the call only, and its layouts
  /// are written there as a pack.
  std::filesystem::path output;
  /// For a pack: the libmpi whose build-id keys it; nullopt: the one beside the headers.
  std::optional<std::filesystem::path> library = std::nullopt;
  IndexerOptions indexer = {}; ///< for a pack: reads the carrier's DWARF
};

/// Writes the carrier, or the pack. A pack is checked against the library first
/// (openmpi::make_pack). Errors: types.unknown_mpi, types.no_headers (names the package to
/// install), types.no_source, types.source_version, types.no_library, types.compile (with the
/// compiler's own words), types.mismatch, output.write, and those of ElfFile::open.
Result<void> make_type_carrier(const CarrierRequest& request);

} // namespace mqbridge
