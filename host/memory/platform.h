#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace mqbridge {

enum class ByteOrder : std::uint8_t { little, big };

/// Which of C's integer types have the width of a pointer. The names are those of the psABIs.
enum class DataModel : std::uint8_t {
  ilp32, ///< int, long and pointers have 32 bits: every ELFCLASS32, x32 and n32 included
  lp64,  ///< long and pointers have 64 bits: every ELFCLASS64
  llp64, ///< pointers have 64 bits, long has 32: Windows, which no ELF header states
};

/// Byte order, sizes and alignments of a target, decided once from what the target itself states
/// (host/process/platform_probe.h) and carried as a value. Never taken from the host. Sizes and
/// alignments in bytes.
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
  int pointer_alignment = 8; ///< of a pointer in a structure, and in memory: m68k 2
  int int64_alignment = 8;   ///< of an 8-byte integer in a structure: i386 4, m68k 2

  /// Sizes by the data model; alignments as large as the sizes.
  void set_data_model(DataModel model) {
    pointer_size = model == DataModel::ilp32 ? 4 : 8;
    size_t_size = pointer_alignment = pointer_size;
    long_size = model == DataModel::lp64 ? 8 : 4;
    long_long_size = int64_alignment = 8;
  }

  /// Alignment of an integer of `size` bytes (1, 2, 4 or 8) in a structure.
  constexpr int alignment_of(int size) const {
    return size == 8 ? int64_alignment : std::min(size, pointer_alignment);
  }

  /// The last address that a pointer can hold. Address arithmetic of the target wraps behind it.
  constexpr std::uint64_t last_address() const {
    return pointer_size == 4 ? 0xffffffff : ~std::uint64_t{0};
  }

  bool operator==(const Platform&) const = default;
};

} // namespace mqbridge
