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
  /// All headers are those of `source`. What configure would have made of it stands in for what is
  /// not there (configured_headers.h), and `search` has what was given beside.
  bool source_alone = false;
};

/// Open MPI's internal headers for the platform of `compiler`: in the given directories, else where
/// mpicc and the usual layouts of distributions have them. Error: types.no_headers (the places
/// tried, and the package to install).
Result<Headers> find_headers(const std::vector<std::filesystem::path>& given,
                             const std::vector<std::string>& compiler);

/// The headers of find_headers(), with those of ob1 from `source`; where nothing was given, and
/// none of the version of `source` are installed, all headers of `source` itself. Errors: those of
/// find_headers(), types.no_source (no source of Open MPI), types.source_version (names both).
Result<Headers> find_headers_with(const std::filesystem::path& source,
                                  const std::vector<std::filesystem::path>& given,
                                  const std::vector<std::string>& compiler);

/// The version of an unpacked source ("4.1.4"); empty: it is none of Open MPI.
std::string source_version(const std::filesystem::path& source);

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
