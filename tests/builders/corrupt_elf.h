#pragma once

#include "tests/builders/elf_builder.h"

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <functional>
#include <string>
#include <utility>

namespace mqbridge::test {

/// Where a field of one of ELF's structures is, in both classes.
struct ElfField {
  std::size_t offset_64, size_64, offset_32, size_32;
};

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): offsetof takes no variable
#define MQBRIDGE_ELF_FIELD(structure, member)                                                      \
  ::mqbridge::test::ElfField {                                                                     \
    offsetof(Elf64_##structure, member), sizeof(Elf64_##structure::member),                        \
        offsetof(Elf32_##structure, member), sizeof(Elf32_##structure::member)                     \
  }

/// Changes fields of a file that ElfBuilder wrote, whatever sense that makes.
class ElfEditor {
public:
  ElfEditor(const ElfShape& shape, std::string bytes) : shape_(shape), bytes_(std::move(bytes)) {}

  ElfEditor& header(const ElfField& field, std::uint64_t value) { return put(0, field, value); }
  /// `index` from 0, in the order in which they were added.
  ElfEditor& section(std::size_t index, const ElfField& field, std::uint64_t value) {
    const std::size_t table = static_cast<std::size_t>(get(MQBRIDGE_ELF_FIELD(Ehdr, e_shoff)));
    return put(table + index * (shape_.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)), field,
               value);
  }
  ElfEditor& program(std::size_t index, const ElfField& field, std::uint64_t value) {
    const std::size_t table = static_cast<std::size_t>(get(MQBRIDGE_ELF_FIELD(Ehdr, e_phoff)));
    return put(table + index * (shape_.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)), field,
               value);
  }

  const std::string& bytes() const { return bytes_; }

private:
  ElfEditor& put(std::size_t at, const ElfField& field, std::uint64_t value) {
    const auto size = shape_.is_64 ? field.size_64 : field.size_32;
    const auto text = ByteWriter(shape_.byte_order).number(value, size).bytes();
    bytes_.replace(at + (shape_.is_64 ? field.offset_64 : field.offset_32), size, text);
    return *this;
  }
  std::uint64_t get(const ElfField& field) const {
    const auto size = shape_.is_64 ? field.size_64 : field.size_32;
    const auto at = shape_.is_64 ? field.offset_64 : field.offset_32;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto from = shape_.byte_order == ByteOrder::little ? size - 1 - i : i;
      value = value << 8 | static_cast<std::uint8_t>(bytes_[at + from]);
    }
    return value;
  }

  ElfShape shape_;
  std::string bytes_;
};

/// Fails the running test if `action` takes longer than some seconds, or more memory than corrupt
/// files may cost. `what` is named then.
void expect_bounded(const std::string& what, const std::function<void()>& action);

} // namespace mqbridge::test
