#pragma once

#include "host/memory/platform.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mqbridge {

/// The unsigned integer that a file of that byte order holds at `from`, aligned or not. The caller
/// has made sure that its bytes are there.
template <class T>
T load_integer(const std::byte* from, ByteOrder order) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if ((order == ByteOrder::little) == (std::endian::native == std::endian::little))
    return value;
  if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(value);
  else if constexpr (sizeof(T) == 8)
    return __builtin_bswap64(value);
  else
    return value;
}

} // namespace mqbridge
