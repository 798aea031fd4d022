#pragma once

#include "host/memory/address.h"
#include "rsp/result.h"

#include <cstddef>
#include <span>

namespace mqbridge {

/// One piece of a read_ranges() call. `into` is owned by the caller and stays valid during the
/// call.
struct MemoryRange {
  TargetAddress address;
  std::span<std::byte> into;
  std::size_t read = 0; ///< out: bytes of `into` filled from its start; the rest is untouched
};

/// The target's memory, read-only. Layers (stub, page cache, ...) implement it one above the other.
///
/// A short read is success with a count: the first byte that could not be read ends it. An Error
/// means that the way to the memory is lost (connection, deadline), never that an address is
/// unmapped.
///
/// Blocks; called from rank threads only, never from the I/O thread. One thread at a time.
class Memory {
public:
  virtual ~Memory() = default;

  /// Reads all ranges, in as few round trips as the layer can. Sets each `read`.
  virtual Result<void> read_ranges(std::span<MemoryRange> ranges) = 0;

  /// Reads one range; the number of bytes read from its start.
  Result<std::size_t> read(TargetAddress address, std::span<std::byte> into) {
    MemoryRange range{address, into};
    if (auto done = read_ranges({&range, 1}); !done)
      return forward(std::move(done));
    return range.read;
  }
};

} // namespace mqbridge
