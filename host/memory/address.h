#pragma once

#include <compare>
#include <cstdint>

namespace mqbridge {

/// An address in the target's address space. Does not mix with FileAddress (host/image/elf_file.h):
/// only an image's load bias turns one into the other.
struct TargetAddress {
  std::uint64_t value = 0;

  constexpr auto operator<=>(const TargetAddress&) const = default;
  constexpr explicit operator bool() const { return value != 0; }
  constexpr TargetAddress operator+(std::uint64_t bytes) const { return {value + bytes}; }
  constexpr TargetAddress operator-(std::uint64_t bytes) const { return {value - bytes}; }
  constexpr std::uint64_t operator-(TargetAddress other) const { return value - other.value; }
};

} // namespace mqbridge
