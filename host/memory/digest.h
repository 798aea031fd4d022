#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// The digest of no bytes.
inline constexpr std::uint32_t empty_digest = 2166136261;

/// A number that differs where bytes differ, but for one case in 2^32 (FNV-1a). `before`: the
/// digest of the bytes in front of them.
constexpr std::uint32_t digest_of(std::span<const std::byte> bytes,
                                  std::uint32_t before = empty_digest) {
  constexpr std::uint32_t prime = 16777619;
  for (const std::byte byte : bytes)
    before = (before ^ std::to_integer<std::uint32_t>(byte)) * prime;
  return before;
}

} // namespace mqbridge
