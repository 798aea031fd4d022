#pragma once

#include "host/elf/elf_file.h"
#include "rsp/result.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// Directories for -I, and one that names the installation in messages.
struct Headers {
  std::vector<std::filesystem::path> search; ///< .../include/openmpi, .../include, what was given
  std::filesystem::path root;                ///< .../include
  /// Open MPI's own source, as it was unpacked. Searched behind `search`: it is not configured.
  std::optional<std::filesystem::path> source = std::nullopt;
};

/// Open MPI's internal headers for the platform of `compiler`: in the given directories, else where
/// mpicc and the usual layouts of distributions have them. Error: types.no_headers (the places
/// tried, and the package to install).
Result<Headers> find_headers(const std::vector<std::filesystem::path>& given,
                             const std::vector<std::string>& compiler);

/// Checks that `source` is of the same version as these headers: the private headers of ob1 are
/// taken from there. Errors: types.no_source (no source of Open MPI), types.source_version (names
/// both).
Result<void> check_source(const std::filesystem::path& source, const Headers& headers);

/// libmpi of the installation that the headers belong to. Error: types.no_library.
Result<std::filesystem::path> find_library(const Headers& headers);

using Libraries = std::vector<std::shared_ptr<const ElfFile>>;

/// libmpi and the libraries of Open MPI beside it: libopen-pal and libopen-rte (by DT_NEEDED),
/// which hold the class descriptors of the opal_ types, and the plugin mca_pml_ob1, if it is found.
/// Errors: those of ElfFile::open for libmpi itself.
Result<Libraries> open_libraries(const std::filesystem::path& libmpi);

/// The version that a libmpi states in its data: the string `ompi_version_string` ("4.1.4"), which
/// every Open MPI from 1.5 exports. In a process it stands at the same symbol, in read-only data:
/// read it there by the symbol's size.
std::optional<std::string> library_version(const ElfFile& libmpi);

} // namespace mqbridge::openmpi
