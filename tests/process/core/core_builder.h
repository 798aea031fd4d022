#pragma once

#include "tests/builders/elf_builder.h"

#include <cstdint>
#include <elf.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::test {

/// Writes a small core file byte by byte. Layouts are those of core(5) and <linux/elfcore.h>, as
/// the real cores of real_core_test.cpp have them.
class CoreBuilder {
public:
  /// Of segments: address and place in the file are equal by this. Writers align to pages.
  static constexpr std::uint64_t segment_alignment = 4;

  explicit CoreBuilder(const ElfShape& shape) : shape_(shape) {}

  /// PT_LOAD of `memory_size` bytes, of which the core has `contents`. 0: as many as `contents`.
  CoreBuilder& segment(std::uint64_t address, std::string contents, std::uint64_t memory_size = 0,
                       std::uint32_t flags = PF_R | PF_W);
  CoreBuilder& note(std::string_view owner, std::uint32_t type, std::string contents);
  CoreBuilder& thread(std::int32_t tid, std::int16_t signal, std::string_view registers);
  CoreBuilder& process(std::int32_t pid, std::string_view name, std::string_view arguments);
  CoreBuilder& auxv(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries);

  struct Mapping {
    std::uint64_t first, end, offset; ///< `offset` in units
    std::string name;
  };
  CoreBuilder& mappings(std::uint64_t unit, const std::vector<Mapping>& mappings);
  /// As gdb does: behind the memory.
  CoreBuilder& notes_last() {
    notes_last_ = true;
    return *this;
  }
  CoreBuilder& note_alignment(std::uint64_t alignment) {
    note_alignment_ = alignment;
    return *this;
  }
  /// As cores of more than 65,534 segments have it: in section header 0, at the end of the file.
  CoreBuilder& count_in_section_header() {
    count_in_section_header_ = true;
    return *this;
  }

  std::string bytes() const;
  /// Of the notes alone.
  std::string notes() const { return notes_; }
  const ElfShape& shape() const { return shape_; }
  /// Of the ELF header, and of one program header.
  std::size_t header_size() const { return shape_.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr); }
  std::size_t entry_size() const { return shape_.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr); }

private:
  struct Segment {
    std::uint32_t type, flags;
    std::uint64_t address, memory_size, alignment;
    std::string contents;
  };

  std::size_t word() const { return static_cast<std::size_t>(shape_.word()); }
  void put_header(ByteWriter& out, std::size_t segments, std::uint64_t section_header) const;
  void put_entry(ByteWriter& out, const Segment& segment, std::uint64_t offset) const;

  ElfShape shape_;
  std::vector<Segment> segments_;
  std::string notes_;
  std::uint64_t note_alignment_ = 4;
  bool notes_last_ = false;
  bool count_in_section_header_ = false;
};

} // namespace mqbridge::test
