#pragma once

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

/// What the process may do in several threads: MPI_Query_thread.
enum class ThreadLevel : std::uint8_t { unknown, single, funneled, serialized, multiple };

/// Which MPI a process uses, as far as its symbols say.
struct MpiLibrary {
  std::string provider = "other";     ///< who shows its queues: openmpi, mpich, recorder, other
  std::string name;                   ///< "Open MPI"
  std::optional<std::string> version; ///< read from the process's own version string
  const Image* image = nullptr;       ///< libmpi, or the executable where it is linked statically
  std::string dll_name;               ///< MPIR_dll_name, bounded; may be empty
  bool dll_name_ends = true;          ///< with a NUL, as a name does
  std::string recorded = {};          ///< openmpi, mpich, other: whose calls a recorder keeps
};

class MpiSupport;

/// Of the MPI itself, whoever shows its queues.
const MpiSupport& support_of_mpi(const MpiLibrary& mpi);
/// Of the known MPI that is loaded beside a recorder, or without one; nullptr: of none.
const MpiSupport* loaded_mpi(const ImageSet& images);

/// nullopt: not an MPI program: no symbol of a known MPI, no MPIR_dll_name. A recorder alone makes
/// none: LD_PRELOAD brings it into whatever else runs in a job, too.
Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space);

} // namespace mqbridge
