#pragma once

#include <cstdint>
#include <string>

namespace mqbridge {

enum class ByteOrder : std::uint8_t { little, big };

/// Byte order and sizes of a target, decided once from its own ELF header
/// (host/target/platform_probe.h) and carried as a value. Never taken from the host. Sizes in
/// bytes.
struct Platform {
  std::string architecture; ///< as `uname -m` says on the target: x86_64, i386, s390x, ppc, ...
  ByteOrder byte_order = ByteOrder::little;
  int short_size = 2;
  int int_size = 4;
  int long_size = 8;
  int long_long_size = 8;
  int pointer_size = 8;
  int bool_size = 1;
  int size_t_size = 8;
  std::uint32_t page_size = 4096;

  bool operator==(const Platform&) const = default;
};

} // namespace mqbridge
