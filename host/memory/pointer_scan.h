#pragma once

#include "host/memory/address.h"
#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// Which words of memory can be pointers, and how they are written there.
struct PointerShape {
  ByteOrder byte_order = ByteOrder::little;
  std::size_t size = 8;      ///< bytes: 4 or 8
  std::size_t alignment = 8; ///< of pointers in memory: m68k 2
  TargetAddress first = {};  ///< the lowest address that a pointer may have
  TargetAddress last = {};   ///< the highest address that a pointer may have
};

/// The most pointers that scan_pointers() finds in so many bytes: `found` must have room for them.
constexpr std::size_t most_pointers(std::size_t bytes, const PointerShape& shape) {
  return bytes / shape.alignment;
}

/// Puts the words of `bytes`, which begin at an aligned address, into `found` if their value is
/// between first and last, and returns their number. It has no branch for each word, since it runs
/// over every page that is read while the target is held.
std::size_t scan_pointers(std::span<const std::byte> bytes, const PointerShape& shape,
                          std::span<std::uint64_t> found);

} // namespace mqbridge
