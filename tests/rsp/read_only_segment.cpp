#include "tests/rsp/read_only_segment.h"

#include <algorithm>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <vector>

namespace mqbridge::test {
namespace {

/// Numbers of an ELF file, by the offsets of the two layouts.
class Elf {
public:
  explicit Elf(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  bool is_64_bit() const { return bytes_.at(EI_CLASS) == ELFCLASS64; }
  std::uint64_t number(std::size_t offset, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool big = bytes_.at(EI_DATA) == ELFDATA2MSB;
      const std::size_t at = offset + (big ? i : size - 1 - i);
      value = value << 8 | static_cast<unsigned char>(bytes_.at(at));
    }
    return value;
  }
  std::string part(std::uint64_t offset, std::uint64_t size) const {
    const std::size_t from = std::min<std::size_t>(offset, bytes_.size());
    const std::size_t to = std::min<std::size_t>(from + size, bytes_.size());
    return {bytes_.data() + from, bytes_.data() + to};
  }

private:
  std::vector<char> bytes_;
};

template <class Header, class Program>
Segment largest(const Elf& elf) {
  Segment found;
  const auto table = elf.number(offsetof(Header, e_phoff), sizeof(Header::e_phoff));
  const auto count = elf.number(offsetof(Header, e_phnum), sizeof(Header::e_phnum));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at = table + i * sizeof(Program);
    const auto field = [&](std::size_t offset, std::size_t size) {
      return elf.number(at + offset, size);
    };
    const auto size = field(offsetof(Program, p_filesz), sizeof(Program::p_filesz));
    const bool is_load = field(offsetof(Program, p_type), sizeof(Program::p_type)) == PT_LOAD;
    const auto flags = field(offsetof(Program, p_flags), sizeof(Program::p_flags));
    if (is_load && (flags & PF_W) == 0 && size > found.bytes.size())
      found = {field(offsetof(Program, p_vaddr), sizeof(Program::p_vaddr)),
               elf.part(field(offsetof(Program, p_offset), sizeof(Program::p_offset)), size)};
  }
  return found;
}

} // namespace

Segment read_only_segment(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const Elf elf(std::vector<char>(std::istreambuf_iterator<char>(in), {}));
  return elf.is_64_bit() ? largest<Elf64_Ehdr, Elf64_Phdr>(elf)
                         : largest<Elf32_Ehdr, Elf32_Phdr>(elf);
}

} // namespace mqbridge::test
