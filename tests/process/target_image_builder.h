#pragma once

#include "host/memory/platform.h"
#include "tests/support/fake_memory.h"

#include <cstdint>
#include <elf.h>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

struct PlatformCase {
  int pointer_size;
  ByteOrder order;
};

/// The four platforms of the unit tests, and their names in the tests'.
inline const PlatformCase platform_cases[] = {
    {4, ByteOrder::little}, {4, ByteOrder::big}, {8, ByteOrder::little}, {8, ByteOrder::big}};

inline void PrintTo(const PlatformCase& platform, std::ostream* out) {
  *out << 8 * platform.pointer_size << (platform.order == ByteOrder::big ? "big" : "little");
}

inline std::string name_of_case(const testing::TestParamInfo<PlatformCase>& test) {
  return testing::PrintToString(test.param);
}

inline Platform make_platform(const PlatformCase& which) {
  Platform platform;
  platform.set_data_model(which.pointer_size == 8 ? DataModel::lp64 : DataModel::ilp32);
  platform.byte_order = which.order;
  return platform;
}

/// Bytes as a target of one word size and byte order would hold them.
class TargetBytes {
public:
  explicit TargetBytes(const PlatformCase& which) : which_(which) {}

  TargetBytes& integer(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto shift = 8 * (which_.order == ByteOrder::big ? size - 1 - i : i);
      bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return *this;
  }
  TargetBytes& word(std::uint64_t value) {
    return integer(value, static_cast<std::size_t>(which_.pointer_size));
  }
  TargetBytes& text(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  /// ELF header up to e_machine, then zeros to its end; e_phoff right behind it, `headers` entries.
  TargetBytes& elf_header(std::uint16_t machine, std::uint16_t headers) {
    const bool wide = which_.pointer_size == 8;
    text(std::string_view(ELFMAG, SELFMAG));
    integer(wide ? ELFCLASS64 : ELFCLASS32, 1);
    integer(which_.order == ByteOrder::big ? ELFDATA2MSB : ELFDATA2LSB, 1);
    pad_to(EI_NIDENT);
    integer(ET_DYN, 2).integer(machine, 2).integer(1, 4).word(0);
    word(wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    pad_to(wide ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum));
    integer(headers, 2);
    return pad_to(wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  }
  TargetBytes& program_header(std::uint32_t type, std::uint64_t address, std::uint64_t size) {
    if (which_.pointer_size == 8)
      return integer(type, 4)
          .integer(0, 4)
          .word(0)
          .word(address)
          .word(address)
          .word(size)
          .word(size)
          .word(8);
    return integer(type, 4)
        .word(0)
        .word(address)
        .word(address)
        .word(size)
        .word(size)
        .integer(0, 4)
        .word(4);
  }
  TargetBytes& pad_to(std::size_t size) {
    if (bytes_.size() < size)
      bytes_.resize(size);
    return *this;
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
  PlatformCase which_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace mqbridge
