#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// 64 bits of `bytes`. Not for secrets. Any change within one aligned 8-byte word changes it.
std::uint64_t checksum(std::span<const std::byte> bytes);

} // namespace mqbridge
