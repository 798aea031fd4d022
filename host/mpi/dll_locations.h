#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge {

/// What a process says of debug DLLs for its handles (mpidbg_dll_locations), as it says it: none of
/// it is trusted. Bounded; empty where it names none. Errors: the way to the memory is lost.
struct DllLocation {
  std::string name;
  bool ends = true; ///< with a NUL, as a name does
};
Result<std::vector<DllLocation>> read_dll_locations(const AddressSpace& space);

} // namespace mqbridge
