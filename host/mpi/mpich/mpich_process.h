#pragma once

#include "host/mpi/mpi_library.h"
#include "host/process/address_space.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge::mpich {

/// The state by the data that MPICH keeps for debuggers: MPIR_debug_state, and whether there are
/// communicators. If MPICH was built without --enable-debuginfo, by the object of MPI_COMM_WORLD;
/// unknown where it is not found (mpich_pools.h). Errors: those of Memory and of find_type.
Result<MpiState> read_state(const AddressSpace& space);

/// The transport, and what the debug DLL does not see of it.
struct Device {
  std::optional<std::string> name; ///< "ch3:nemesis", "ch4:ucx"; nullopt: not known
  std::optional<Error> warning;    ///< transport.partial
};

/// Errors: those of Memory.
Result<Device> read_device(const AddressSpace& space);

/// Types that its debug DLL needs and that `find` does not know. Errors: those of `find`.
Result<std::vector<std::string>> missing_types(const TypeFinder& find);

} // namespace mqbridge::mpich
