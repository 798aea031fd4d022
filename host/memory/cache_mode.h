#pragma once

#include <cstdint>

namespace mqbridge {

/// The cache between a debug DLL and the stub (--cache).
enum class CacheMode : std::uint8_t {
  none, ///< every fetch asks the stub: for comparison
  page, ///< keeps the pages of 4 KiB that were asked for: for comparison
  full, ///< the page store with prefetch
};

} // namespace mqbridge
