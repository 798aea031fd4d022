#pragma once

#include "host/mpi/mpi_support.h"
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
  std::string mpi = {}; ///< MpiFacts::provider; empty: the first of which carriers can be made
  /// --cc, split into words; a cross compiler for a foreign target.
  std::vector<std::string> compiler = {"cc"};
  /// --include; empty: asked from the MPI's compiler, then the usual places.
  std::vector<std::filesystem::path> include_directories;
  /// --source: the MPI's own source, for types that no header of an installation has. nullopt: the
  /// carrier or pack goes without.
  std::optional<std::filesystem::path> source = std::nullopt;
  /// A name that ends in .types: the carrier is made for the time of the call only, and its layouts
  /// are written there as a pack.
  std::filesystem::path output;
  /// For a pack: the MPI library whose build-id keys it; nullopt: the one beside the headers.
  std::optional<std::filesystem::path> library = std::nullopt;
  IndexerOptions indexer = {}; ///< for a pack: reads the carrier's DWARF
};

/// The types that a carrier of an MPI holds.
struct CarrierTypes {
  Names needed;                ///< which the debug DLL and the repairs ask for
  std::vector<Names> optional; ///< without which some work less
};

/// What a check of a carrier or pack against an installed MPI library finds.
struct TypesFileCheck {
  std::filesystem::path library;
  bool fit = true;
  int compared = 0;                ///< sizes that the library states and that were compared
  std::vector<std::string> faults; ///< what is wrong, a line each
  std::string lacking;             ///< what a file may lack: "the types of ob1"; empty: nothing
  std::string make_line;           ///< the line that makes a file which fits
};

/// MPIs of which carriers can be made.
std::vector<const MpiSupport*> mpis_with_carriers();
/// That of this MpiFacts::provider, whether it is among them or not; empty: the first of them.
const MpiSupport& mpi_of_carriers(std::string_view provider = {});
/// types.unknown_mpi.
Failure unknown_mpi(std::string_view provider);

/// Writes the carrier, or the pack. A pack is checked against the library first. Errors:
/// types.unknown_mpi, types.no_headers (names the package to install), types.no_source,
/// types.source_version, types.no_library, types.compile (with the compiler's own words),
/// types.mismatch, output.write, and those of ElfFile::open.
Result<void> make_type_carrier(const CarrierRequest& request);

} // namespace mqbridge
