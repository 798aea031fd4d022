#pragma once

#include <cstdint>

namespace mqbridge {

/// What stands between a debug DLL and the stub (--cache).
enum class CacheMode : std::uint8_t {
  none, ///< every fetch asks the stub: what is compared with
  page, ///< pages of 4 KiB as they are asked for: what is compared with
  full, ///< the page store with prefetch
};

} // namespace mqbridge
