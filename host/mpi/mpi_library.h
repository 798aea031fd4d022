#pragma once

#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

enum class MpiState : std::uint8_t {
  not_initialized,
  initialized,
  finalizing, ///< in MPI_Finalize: there may be communicators still
  finalized,
  unknown
};

/// Which MPI a process uses, as far as its symbols say.
struct MpiLibrary {
  std::string provider = "other";     ///< openmpi, mpich, recorder, other
  std::string name;                   ///< "Open MPI"
  std::optional<std::string> version; ///< read from the process's own version string
  const Image* image = nullptr;       ///< libmpi, or the executable where it is linked statically
  std::string dll_name;               ///< MPIR_dll_name, bounded; may be empty
  bool dll_name_ends = true;          ///< with a NUL, as a name does
};

/// nullopt: not an MPI program (no symbol of a known MPI, no MPIR_dll_name).
Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space);

namespace openmpi {

/// Compares the types that `find` knows with what the process states: the symbol sizes, and the
/// cls_sizeof of the exported X_t_class object (opal/class/opal_object.h) of each type that `find`
/// knows, read in one pipelined read. Errors: those of `find` and of Memory.
Result<TypeComparison> check_types(const TypeFinder& find, const AddressSpace& space);

/// Open MPI 5 and later: MPI_Session_init makes communicators without MPI_Init or MPI_COMM_WORLD.
bool has_sessions(const ImageSet& images);

/// ompi_mpi_state; unknown for a process that was in a session and not in MPI_Init, which leaves no
/// mark in it.
Result<MpiState> read_state(const AddressSpace& space);

/// Name of the selected PML ("ob1", "ucx"); nullopt if it cannot be read.
Result<std::optional<std::string>> read_transport(const AddressSpace& space);

} // namespace openmpi
} // namespace mqbridge
