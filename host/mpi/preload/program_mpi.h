#pragma once

#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::preload {

/// How a program of this host comes to its MPI.
struct ProgramMpi {
  enum class Way : std::uint8_t {
    none,     ///< no MPI that is known, as far as the libraries say that it needs
    library,  ///< a shared library, in front of which another one can be preloaded
    linked,   ///< linked into the program, where nothing that is preloaded can come first
    recorded, ///< it brings the recorder along by itself
  };
  Way way = Way::none;
  std::string provider = {}; ///< MpiLibrary::provider; empty unless it is a library
  std::string library = {};  ///< that says so: "libmpi.so.40"
  Platform platform = {};
};

/// "openmpi" or "mpich" by the name of a library of its C or Fortran interface; empty: of neither.
/// Number 12 is that of MPICH's binary interface, which Intel MPI, Cray MPI and MVAPICH share.
std::string_view provider_of_library(std::string_view file_name);

/// By its ELF file and the libraries that it needs, theirs included, found as ld.so would: their
/// DT_RPATH and DT_RUNPATH, `search` (LD_LIBRARY_PATH), the directories of /etc/ld.so.conf.d, and
/// the system's own. Nothing is run. Errors: elf.open, elf.not_elf (a script), elf.corrupt.
Result<ProgramMpi> mpi_of_program(const std::filesystem::path& program,
                                  const std::vector<std::filesystem::path>& search);

} // namespace mqbridge::preload
