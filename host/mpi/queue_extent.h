#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>

namespace mqbridge {

/// How much the debug DLL of an MPI will look at, said by the MPI itself before it is looked at.
/// Read from a process whose memory may be corrupt: an estimate.
struct QueueExtent {
  std::uint64_t items = 0; ///< requests, pending or not
  std::uint64_t bytes = 0; ///< of memory that they take
};

namespace openmpi {

/// Open MPI's DLL looks at every request that the free lists of ob1 ever allocated. nullopt: the
/// lists or their types are not known, or what they say cannot be. Errors: those of Memory and of
/// find_type.
Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space);

} // namespace openmpi
} // namespace mqbridge
