#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mqbridge {

/// An unsigned integer of bytes.size() bytes in the target's byte order, zero-extended. More than 8
/// bytes: the low 64 bits.
std::uint64_t decode_unsigned(std::span<const std::byte> bytes, ByteOrder order);

/// The same, sign-extended from its width. More than 8 bytes: the low 64 bits.
std::int64_t decode_signed(std::span<const std::byte> bytes, ByteOrder order);

/// Reads all of `into`. Error memory.unreadable (names the address and how much was there) beside
/// those of Memory.
Result<void> read_exact(Memory& memory, TargetAddress address, std::span<std::byte> into);

/// Integer of `size` bytes (1 to 8). Errors as read_exact.
Result<std::uint64_t> read_unsigned(Memory& memory, const Platform& platform, TargetAddress address,
                                    std::size_t size);
Result<TargetAddress> read_pointer(Memory& memory, const Platform& platform, TargetAddress address);

/// The bytes before the first zero, at most `limit`; a text without an end is cut there, one that
/// runs into unreadable memory is error memory.unreadable.
Result<std::string> read_string(Memory& memory, TargetAddress address, std::size_t limit);

} // namespace mqbridge
