#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mqs/dll_policy.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge {

/// The debug DLLs that a process names for its handles (mpidbg_dll_locations). None of it is
/// trusted. Bounded; empty if it names none. Errors: the connection to the memory is lost.
struct DllLocation {
  std::string name;
  bool ends = true; ///< with a NUL, as a name does
};
Result<std::vector<DllLocation>> read_dll_locations(const AddressSpace& space);

/// For choose_dll(): MPIR_dll_name, and what is known of DLLs of this MPI. Refers to `mpi`.
TargetsDll dll_of(const MpiLibrary& mpi);
/// The same for another name. Refers to it, too.
TargetsDll dll_of(const MpiLibrary& mpi, const DllLocation& location);

} // namespace mqbridge
