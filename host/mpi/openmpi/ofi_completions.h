#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>

namespace mqbridge::openmpi {

/// How many sends and receives libfabric has ever completed, whatever its provider: the number of
/// entries that its completion queue has taken. `module` is ompi_mtl_ofi, whose first context's
/// queue it is. For 64 bits. nullopt: nothing is there that is known, or several things. Errors:
/// those of Memory.
Result<std::optional<std::int64_t>> read_ofi_completions(const ResolvedSymbol& module,
                                                         const AddressSpace& space);

} // namespace mqbridge::openmpi
