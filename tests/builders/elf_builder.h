#pragma once

#include "host/elf/elf_file.h"
#include "tests/builders/byte_writer.h"

#include <cstdint>
#include <elf.h>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// Class, byte order and machine of a built file.
struct ElfShape {
  bool is_64 = true;
  ByteOrder byte_order = ByteOrder::little;
  std::uint16_t machine = EM_X86_64;
  const char* architecture = "x86_64";

  int word() const { return is_64 ? 8 : 4; }
};
inline void PrintTo(const ElfShape& shape, std::ostream* out) {
  *out << shape.architecture;
}

/// The four shapes that every test of the image room runs on.
inline const ElfShape elf_shapes[] = {
    {true, ByteOrder::little, EM_X86_64, "x86_64"},
    {true, ByteOrder::big, EM_S390, "s390x"},
    {false, ByteOrder::little, EM_386, "i386"},
    {false, ByteOrder::big, EM_PPC, "ppc"},
};

struct BuiltSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned char type = STT_OBJECT;
  unsigned char binding = STB_GLOBAL;
  std::uint16_t section = 1;
};

/// Writes a small ELF file byte by byte, without libelf: program headers (PT_PHDR and a PT_LOAD of
/// everything at `base`), then sections in the order added, then the section headers, so that every
/// shorter prefix is broken.
class ElfBuilder {
public:
  static constexpr std::uint64_t base = 0x10000;

  explicit ElfBuilder(const ElfShape& shape);

  ByteWriter writer() const { return ByteWriter(shape_.byte_order); }
  /// The address at which the section's contents are loaded.
  FileAddress add_section(std::string_view name, std::uint32_t type, std::string contents,
                          std::uint32_t link = 0, std::uint64_t entry_size = 0);
  FileAddress add_data(std::string contents) {
    return add_section(".data", SHT_PROGBITS, std::move(contents));
  }
  /// As one word of the platform's size.
  FileAddress add_word(std::uint64_t value);
  /// `table` is SHT_DYNSYM or SHT_SYMTAB; its string table comes with it.
  void add_symbols(std::uint32_t table, const std::vector<BuiltSymbol>& symbols);
  void add_build_id(std::string_view bytes);
  void add_debug_link(std::string_view file, std::uint32_t crc);
  void add_dynamic(const std::vector<std::pair<std::int64_t, std::string>>& entries);

  std::string bytes() const;
  void write(const std::filesystem::path& path) const;

private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::string contents;
    std::uint32_t link = 0;
    std::uint64_t entry_size = 0;
    std::uint64_t offset = 0;
  };

  std::size_t word() const { return static_cast<std::size_t>(shape_.word()); }
  void put_header(ByteWriter& out, std::uint64_t section_headers) const;
  void put_program_header(ByteWriter& out, std::uint32_t type, std::uint64_t offset,
                          std::uint64_t size) const;
  void put_section_header(ByteWriter& out, const Section& section, std::uint64_t name) const;

  ElfShape shape_;
  std::uint64_t end_;
  std::vector<Section> sections_;
};

/// A directory of this test, removed with it.
class TestDirectory {
public:
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// Writes a file, making the directories above it.
  std::filesystem::path write(std::string_view name, std::string_view contents) const;

private:
  std::filesystem::path path_;
};

/// Changes a file in place: sweeps over damaged files must not wait for the disk at every step.
void overwrite(const std::filesystem::path& path, std::size_t at, char value);

} // namespace mqbridge::test
