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

/// Opens a regular file for reading; anything else (a FIFO would block, a device may act on it) is
/// not even opened. Error: elf.open.
Result<FileDescriptor> open_regular_file(const std::filesystem::path& path);

/// The file that `elf` was read from, not one that took its place. Error: elf.open.
Result<FileDescriptor> reopen(const ElfFile& elf);

/// It begins as an ELF file does, whatever may follow. False, too, where it cannot be read.
bool is_elf(const FileDescriptor& fd);

/// Lower-case digits, two for each byte: how a build-id is written.
std::string hexadecimal(std::string_view bytes);

/// What is in a PT_DYNAMIC that somebody here asks for.
struct ElfDynamic {
  std::string soname;
  std::vector<std::string> needed;       ///< libraries that come along: DT_NEEDED and filters' ones
  std::vector<std::string> search_paths; ///< DT_RPATH, DT_RUNPATH: as written, colons and all
};

/// Reads one ELF file through libelf, for ElfFile::open and the loading policy of debug DLLs.
/// Nothing that the header says is believed before it was compared with the size of the file.
class ElfReader {
public:
  /// Errors: elf.open, elf.not_elf, elf.corrupt.
  static Result<ElfReader> open(const std::filesystem::path& path);

  const Platform& platform() const { return platform_; }
  FileAddress entry() const;

  /// All of one type (PT_LOAD, PT_NOTE).
  Result<std::vector<ElfSegment>> segments(std::uint32_t type) const;
  std::optional<FileAddress> program_headers() const;
  /// Of .dynsym and .symtab, in this order. Of what is in them nothing is read.
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
