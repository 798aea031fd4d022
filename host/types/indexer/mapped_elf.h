#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Where one section is in the file. It lies inside of it.
struct ElfSection {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entry_size = 0;
  /// Set: its bytes are a zlib stream, which unpacks to so many bytes, and `name` is the unpacked
  /// section's. nullopt: it is not compressed.
  std::optional<std::uint64_t> unpacked_size = {};
};

/// Ends a mapping of `size` bytes.
struct Unmapping {
  std::size_t size = 0;
  void operator()(const std::byte* at) const;
};

/// The sections of a mapped ELF file with DWARF in them: only pages that are looked at are read. If
/// somebody shortens the file meanwhile, a look behind its end is a SIGBUS: so this is for a
/// process that may die alone.
class MappedElf {
public:
  /// nullopt: no ELF file, headers that lie outside of it, or no room to map it. `why` says which.
  static std::optional<MappedElf> map(const FileDescriptor& fd, std::string& why);
  MappedElf(MappedElf&&) noexcept = default;

  bool is_64() const { return is_64_; }
  ByteOrder byte_order() const { return byte_order_; }
  /// .debug_*, .zdebug_* and their .dwo forms, after an empty first one: in an ELF file section 0
  /// is empty, and libdwarf counts on that.
  std::span<const ElfSection> sections() const { return sections_; }
  std::span<const std::byte> bytes(const ElfSection& section) const {
    return bytes_.subspan(section.offset, section.size);
  }
  /// Whether relocations have to be applied before the sections can be read, as in object files.
  bool has_relocations() const { return has_relocations_; }

private:
  MappedElf() = default;
  std::optional<std::string> read_sections();
  template <class Header, class SectionHeader, class CompressionHeader>
  std::optional<std::string> read_headers();
  template <class CompressionHeader>
  std::optional<std::string> unpack_by_header(ElfSection& section) const;
  std::optional<std::string> unpack_by_name(ElfSection& section) const;
  template <class Structure>
  std::optional<Structure> structure(std::uint64_t offset) const;
  template <class Number>
  Number native(Number number) const;
  bool inside(std::uint64_t offset, std::uint64_t size) const;
  std::string_view text_at(std::uint64_t offset, std::uint64_t end) const;

  std::unique_ptr<const std::byte, Unmapping> mapping_;
  std::span<const std::byte> bytes_;
  bool is_64_ = true;
  ByteOrder byte_order_ = ByteOrder::little;
  std::vector<ElfSection> sections_;
  bool has_relocations_ = false;
};

} // namespace mqbridge
