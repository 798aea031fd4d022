#pragma once

#include "host/disk/file_place.h"
#include "host/memory/address.h"
#include "host/memory/platform.h"
#include "rsp/result.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// An address as an ELF file states it, before load bias.
struct FileAddress {
  std::uint64_t value = 0;
  constexpr auto operator<=>(const FileAddress&) const = default;
};

/// The offset between a FileAddress of one object and its TargetAddress (l_addr of its link map
/// entry; wraps around at the end of the address space, Platform::last_address()).
struct LoadBias {
  std::uint64_t value = 0;
  std::uint64_t last_address = ~std::uint64_t{0};
  constexpr bool operator==(const LoadBias&) const = default;
  constexpr TargetAddress operator()(FileAddress address) const {
    return {(address.value + value) & last_address};
  }
};

/// One piece of the file that is loaded into memory.
struct ElfSegment {
  FileAddress address;
  std::uint64_t offset = 0;      ///< in the file
  std::uint64_t size = 0;        ///< bytes in the file
  std::uint64_t memory_size = 0; ///< bytes in memory: those behind `size` start as zeros
  bool writable = false;
};

struct ElfSymbol {
  std::string name;
  FileAddress address;
  std::uint64_t size = 0;
  bool is_function = false;
  bool is_local = false;
  bool is_weak = false;
};

/// The platform that the ELF header of a file states; nothing else of the file is read. Errors:
/// elf.open, elf.not_elf, elf.corrupt.
Result<Platform> read_elf_platform(const std::filesystem::path& path);

/// An ELF file on this host, read with libelf: any class, any byte order. Opening reads headers
/// only; symbols are read as they are asked for, and indexes of them kept from one run to the next
/// (CacheRecords). Any thread may read.
class ElfFile {
public:
  /// Errors: elf.open, elf.not_elf, elf.corrupt; each names the file.
  static Result<std::shared_ptr<const ElfFile>> open(const FilePlace& place);
  ~ElfFile();

  const FilePlace& place() const;
  const std::filesystem::path& path() const { return place().path; }
  const Platform& platform() const;    ///< from e_ident, e_machine and the class's C data model
  const std::string& build_id() const; ///< lower-case hexadecimal; empty if there is none
  /// A text that identifies the contents, for facts that are kept about them: build-id, size and
  /// time; without a build-id path, inode and times.
  const std::string& identity() const;
  FileAddress entry() const; ///< e_entry
  std::optional<FileAddress>
  program_headers() const; ///< where the PT_PHDR or first PT_LOAD places them

  std::span<const ElfSegment> segments() const; ///< PT_LOAD, in order
  std::span<const ElfSegment> notes() const;    ///< PT_NOTE, in order

  /// .dynsym and .symtab; global before weak before local; undefined symbols never. nullptr if
  /// absent, or if another file has taken the place of this one. Valid as long as this.
  const ElfSymbol* find_symbol(std::string_view name) const;
  /// Every symbol whose name ends with `suffix` (for Open MPI's X_t_class objects).
  std::vector<const ElfSymbol*> symbols_ending_with(std::string_view suffix) const;

  /// Initialised contents at `address` as the file holds them: bytes copied, 0 if no segment has it
  /// there. Relocations are not applied. Thread-safe (pread).
  std::size_t read(FileAddress address, std::span<std::byte> into) const;

  const std::string& soname() const;              ///< DT_SONAME; empty if there is none
  const std::vector<std::string>& needed() const; ///< DT_NEEDED, in order

  bool has_dwarf() const; ///< .debug_info or .zdebug_info with contents
  struct DebugLink {
    std::string file;
    std::uint32_t crc = 0;
  };
  std::optional<DebugLink> debug_link() const; ///< .gnu_debuglink
  struct AlternateLink {
    std::string file;
    std::string build_id; ///< lower-case hexadecimal
  };
  std::optional<AlternateLink> alternate_link() const; ///< .gnu_debugaltlink, which dwz -m writes
  /// DWARF sections in a compression that libdwarf does not know ("zstd"); empty: none.
  const std::string& unknown_compression() const;

private:
  struct Impl;
  explicit ElfFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge
