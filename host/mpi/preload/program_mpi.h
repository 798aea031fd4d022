#pragma once

#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {
class MpiSupport;
}

namespace mqbridge::preload {

/// How a program of this host gets its MPI.
struct ProgramMpi {
  enum class Way : std::uint8_t {
    none,     ///< no MPI that is known, as far as the libraries say that it needs
    library,  ///< a shared library, in front of which another one can be preloaded
    linked,   ///< linked into the program, where nothing that is preloaded can come first
    recorded, ///< it brings the recorder along by itself
  };
  Way way = Way::none;
  std::string provider = {}; ///< MpiLibrary::provider; empty: an MPI that is not known, or none
  std::string library = {};  ///< the library that shows it: "libmpi.so.40"
  std::filesystem::path file = {}; ///< of this host, which defines PMPI_Init; empty: none was found
  Platform platform = {};
};

/// The known MPI that has a library of this name for programs, with this number; nullptr: none.
const MpiSupport* mpi_of_library(std::string_view path);

/// The directories that a variable of the environment lists: PATH, LD_LIBRARY_PATH.
std::vector<std::filesystem::path> directories_in(const char* variable);

/// The MPI of a program, by its ELF file and the libraries that it needs, directly and indirectly:
/// by their names, else by what they define. They are found as ld.so finds them: by their DT_RPATH
/// and DT_RUNPATH, `search` (LD_LIBRARY_PATH), the directories of /etc/ld.so.conf.d, and the
/// system's own. Nothing is run. Errors: elf.open, elf.not_elf (a script), elf.corrupt.
Result<ProgramMpi> mpi_of_program(const std::filesystem::path& program,
                                  const std::vector<std::filesystem::path>& search);

} // namespace mqbridge::preload
