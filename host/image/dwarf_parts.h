#pragma once

#include "host/image/dwarf_file.h"
#include "host/image/dwarf_split.h"
#include "host/image/elf_file.h"
#include "host/image/file_finder.h"

#include <functional>
#include <memory>
#include <vector>

namespace mqbridge {

/// The DWARF of one ELF file with all that it is spread over: its own sections, the alternate file
/// that dwz made of what several files share, and split DWARF. One thread at a time.
class DwarfParts {
public:
  /// `elf` and `paths` outlive this. nullptr: no DWARF in it. A part that is missing is a warning,
  /// no error. Errors: elf.open, dwarf.corrupt, dwarf.compression.
  static Result<std::unique_ptr<DwarfParts>> open(const ElfFile& elf, const FilePaths& paths);

  /// Calls `visit` with each unit, until there is a fault: those of the file itself, then split
  /// ones. Units of the alternate file are reached by reference only: it holds other programs'
  /// types, too.
  void for_each_unit(const std::function<void(const DwarfUnit&)>& visit);

  DwarfFile& main() { return *main_; }
  DwarfFile* alternate() { return alternate_.get(); } ///< null: there is none

  /// What could not be used: dwarf.alternate_missing, dwarf.split_missing.
  std::vector<Error> take_warnings();

private:
  DwarfParts(const ElfFile& elf, const FilePaths& paths, std::shared_ptr<DwarfFault> fault)
      : elf_(elf), fault_(std::move(fault)), split_(elf, paths, fault_) {}
  void find_alternate(const FilePaths& paths);

  const ElfFile& elf_;
  std::shared_ptr<DwarfFault> fault_;
  std::unique_ptr<DwarfFile> alternate_; // main_ refers to it: ended after it
  std::unique_ptr<DwarfFile> main_;
  SplitDwarf split_;
  std::vector<Error> warnings_;
};

} // namespace mqbridge
