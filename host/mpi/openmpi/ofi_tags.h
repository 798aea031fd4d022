#pragma once

#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>

namespace mqbridge::openmpi {

/// What the bits by which libfabric matches say in Open MPI. A zero may stand for "any", too: which
/// bits a receive ignores Open MPI does not keep.
struct OfiTag {
  std::uint64_t communicator = 0; ///< its place in the table (Communicator::id)
  std::int64_t source = 0;        ///< 0: rank 0 or any. -1: the bits have no source
  std::int64_t tag = 0;           ///< 0: tag 0 or any
};

/// How a process divides these bits (ompi/mca/mtl/ofi/mtl_ofi_types.h): by the provider's
/// abilities, and by a setting.
struct OfiTags {
  int tag_bits = 0;
  int source_bits = 0; ///< 0: the sender's rank travels beside the tag

  OfiTag decode(std::uint64_t bits) const;
};

/// Read from the module's object (ompi_mtl_ofi), whose last words are masks that no other words
/// look like. nullopt: they are not there. Errors: those of Memory.
Result<std::optional<OfiTags>> read_ofi_tags(const ResolvedSymbol& module,
                                             const AddressSpace& space);

} // namespace mqbridge::openmpi
