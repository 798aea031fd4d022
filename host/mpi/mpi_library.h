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

/// How many threads may call MPI: MPI_Query_thread.
enum class ThreadLevel : std::uint8_t { unknown, single, funneled, serialized, multiple };

/// The MPI that a process uses, as far as its symbols tell.
struct MpiLibrary {
  std::string provider = "other";     ///< who shows its queues: openmpi, mpich, recorder, other
  std::string name;                   ///< "Open MPI"
  std::optional<std::string> version; ///< read from the process's own version string
  const Image* image = nullptr;       ///< libmpi, or the executable where it is linked statically
  std::string dll_name;               ///< MPIR_dll_name, bounded; may be empty
  bool dll_name_ends = true;          ///< with a NUL, as a name does
  std::string recorded = {}; ///< the MPI whose calls a recorder keeps: openmpi, mpich, other
};

class MpiSupport;

/// The support for the MPI itself, whoever shows its queues.
const MpiSupport& support_of_mpi(const MpiLibrary& mpi);
/// The support for the known MPI that is loaded, with or without a recorder; nullptr: there is
/// none.
const MpiSupport* loaded_mpi(const ImageSet& images);

/// nullopt: no MPI program: it has no symbol of a known MPI, and no MPIR_dll_name. A recorder alone
/// does not count: LD_PRELOAD brings it into other programs of a job, too.
Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space);

} // namespace mqbridge
