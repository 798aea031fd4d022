#pragma once

#include "host/disk/file_on_disk.h"
#include "host/elf/elf_file.h"
#include "host/elf/symbol_table.h"

#include <filesystem>
#include <functional>
#include <gelf.h>
#include <libelf.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// As open_if_regular(). Error: elf.open.
Result<FileDescriptor> open_regular_file(const FilePlace& place);

/// Opens the file that `elf` was read from, and no other file in its place. Error: elf.open.
Result<FileDescriptor> reopen(const ElfFile& elf);

/// Whether the file begins as an ELF file does. False also if it cannot be read.
bool is_elf(const FileDescriptor& fd);

/// Lower-case digits, two for each byte: how a build-id is written.
std::string hexadecimal(std::string_view bytes);

/// The entries of a PT_DYNAMIC that are needed here.
struct ElfDynamic {
  std::string soname;
  std::vector<std::string> needed; ///< libraries that are loaded with it: DT_NEEDED and filters
  std::vector<std::string> search_paths; ///< DT_RPATH, DT_RUNPATH: as written, colons and all
};

/// Reads one ELF file through libelf, for ElfFile::open and the loading policy of debug DLLs. It
/// compares each number of the header with the size of the file before it believes it.
class ElfReader {
public:
  /// Errors: elf.open, elf.not_elf, elf.corrupt.
  static Result<ElfReader> open(const FilePlace& place);

  const Platform& platform() const { return platform_; }
  FileAddress entry() const;

  /// All segments of one type (PT_LOAD, PT_NOTE).
  Result<std::vector<ElfSegment>> segments(std::uint32_t type) const;
  std::optional<FileAddress> program_headers() const;
  /// The places of .dynsym and .symtab, in this order. Their contents are not read.
  Result<std::vector<SymbolTablePlace>> symbol_tables() const;
  SymbolFormat symbol_format() const;
  const FileOnDisk& file() const { return file_; }
  std::string build_id() const;
  Result<ElfDynamic> dynamic() const;
  bool has_dwarf() const;
  std::string unknown_compression() const; ///< of .debug_info: as ElfFile's
  std::optional<std::string> section_bytes(std::string_view name) const;

private:
  struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  ElfReader() = default;
  Failure corrupt(std::string_view what) const;
  Result<void> check_header();
  Result<void> check_sections() const;
  std::uint64_t unpacked_size(const GElf_Shdr& section) const;
  Result<SymbolTablePlace> symbol_table(Elf_Scn* section) const;
  Elf_Scn*
  find_section(const std::function<bool(std::string_view name, std::size_t type)>& accept) const;

  FileOnDisk file_;
  FileDescriptor fd_;
  std::unique_ptr<Elf, ElfEnd> elf_; // ended before the file is closed: declared after fd_
  Platform platform_;
};

} // namespace mqbridge
