#pragma once

#include "host/memory/memory.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Pieces of the target's memory that were read ahead, all in one call, and answer what is asked of
/// them from there: the first bytes of each loaded object, of which far less than a page is wanted,
/// by one after the other. Everything else is asked of the layer below.
class FirstLook final : public Memory {
public:
  /// `below` is not owned and outlives this.
  explicit FirstLook(Memory& below) : below_(below) {}

  struct Extent {
    TargetAddress address;
    std::size_t size = 0;
  };
  /// Reads these pieces, of which some may be the same, and forgets those from before. What of them
  /// cannot be read is asked for again when it is wanted.
  Result<void> take(std::vector<Extent> pieces);

  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  const Lack* lack(TargetAddress address) const override { return below_.lack(address); }

private:
  struct Piece {
    TargetAddress address;
    std::vector<std::byte> bytes;
  };
  bool answer(MemoryRange& range) const;

  Memory& below_;
  std::vector<Piece> pieces_;
};

} // namespace mqbridge
