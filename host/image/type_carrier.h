#pragma once

#include "host/image/type_pack.h"
#include "rsp/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge {

/// What `mqbridge types make` needs. A carrier is a small shared object compiled with -g against
/// the MPI's own internal headers: it holds the exact layouts that a stripped library lacks.
struct CarrierRequest {
  std::string mpi = "openmpi";
  std::vector<std::string> compiler = {
      "cc"}; ///< --cc, split into words; a cross compiler for a foreign target
  std::vector<std::filesystem::path>
      include_directories; ///< --include; empty: asked from mpicc, then the usual places
  std::filesystem::path output;
};

/// Writes the carrier. Errors: types.unknown_mpi, types.no_headers (names the package to install),
/// types.compile (with the compiler's own words), output.write.
Result<void> make_type_carrier(const CarrierRequest& request);

/// Names of the C types (and for repairs, the fields) that mqbridge and this MPI's debug DLL ask
/// for.
const std::vector<std::string>& needed_types(std::string_view mpi);

/// Reads a --types FILE: a pack or a carrier (any ELF with DWARF), told apart by its first bytes.
Result<std::shared_ptr<TypeSource>> open_types_file(const std::filesystem::path& path);

} // namespace mqbridge
