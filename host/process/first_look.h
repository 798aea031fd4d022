#pragma once

#include "host/memory/memory.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Answers reads from pieces of the target's memory that were all read in one call: the first bytes
/// of each loaded object. Several readers want these bytes one after the other, and far less than a
/// page of each. All other reads go to the layer below.
class FirstLook final : public Memory {
public:
  /// `below` is not owned and outlives this.
  explicit FirstLook(Memory& below) : below_(below) {}

  struct Extent {
    TargetAddress address;
    std::size_t size = 0;
  };
  /// Reads these pieces, and forgets the earlier ones. Some pieces may be equal. Bytes that cannot
  /// be read are asked for again when somebody wants them.
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
