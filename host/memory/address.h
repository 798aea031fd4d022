#pragma once

#include <compare>
#include <cstdint>

namespace mqbridge {

/// An address in the target's address space. Does not mix with FileAddress (host/elf/elf_file.h):
/// only an image's load bias turns one into the other.
struct TargetAddress {
  std::uint64_t value = 0;

  constexpr auto operator<=>(const TargetAddress&) const = default;
  constexpr explicit operator bool() const { return value != 0; }
  constexpr TargetAddress operator+(std::uint64_t bytes) const { return {value + bytes}; }
  constexpr TargetAddress operator-(std::uint64_t bytes) const { return {value - bytes}; }
  constexpr std::uint64_t operator-(TargetAddress other) const { return value - other.value; }
};

/// `value`, which a DLL, a stub or a text gave, as an address of a target whose pointers have
/// `pointer_size` bytes: the only place where sign-extended 32-bit addresses (0xffffffff80001000)
/// lose their extension. Anything else that is wider than a pointer is no address of the target,
/// and stays as it is, so that reading there fails.
constexpr TargetAddress at_pointer_width(std::uint64_t value, int pointer_size) {
  constexpr std::uint64_t sign_extension = 0xffffffff80000000;
  const bool extended = pointer_size == 4 && (value & sign_extension) == sign_extension;
  return {extended ? value & 0xffffffff : value};
}

} // namespace mqbridge
