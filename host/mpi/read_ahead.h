#pragma once

#include "host/memory/memory.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge {

/// The number of items is not known: the first pieces are small.
inline constexpr std::uint64_t unknown_length = ~std::uint64_t{0};

/// Reads items of lists that lie close to each other, as those of a free list do. It reads a piece
/// of the memory around an item with it, since each item alone would be a round trip. The piece
/// grows while its contents are used, and shrinks if most of them are not.
class ReadAhead {
public:
  /// `expected`: items that are likely to come. Few of them are read alone.
  ReadAhead(Memory& memory, std::size_t item_size, std::uint64_t expected);

  /// Reads each range, at most one item long; sets its `read`. Errors: those of Memory.
  Result<void> read(std::span<MemoryRange> items);

private:
  bool serve(MemoryRange& item);
  MemoryRange next_piece(TargetAddress item);

  Memory& memory_;
  std::size_t item_size_;
  std::uint64_t expected_; ///< items that are still likely to come
  std::size_t ahead_;      ///< bytes; 0: none
  TargetAddress piece_at_;
  std::vector<std::byte> piece_;
  std::size_t readable_ = 0; ///< bytes of the piece
  std::size_t used_ = 0;     ///< bytes of it that items took
};

} // namespace mqbridge
