#pragma once

#include <cstdint>

namespace mqbridge {

/// How much memory the debug DLL of an MPI will look at, according to the MPI itself. Read from a
/// process whose memory may be corrupt: an estimate.
struct QueueExtent {
  std::uint64_t items = 0; ///< requests, pending or not
  std::uint64_t bytes = 0; ///< of memory that they take
};

} // namespace mqbridge
