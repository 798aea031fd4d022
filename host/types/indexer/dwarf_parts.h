#pragma once

#include "host/types/indexer/dwarf_file.h"
#include "host/types/indexer/dwarf_split.h"
#include "host/types/indexer/questions.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mqbridge {

/// Those files of one ELF file's DWARF that are given at the start.
struct GivenFiles {
  SuppliedFile main;
  std::optional<SuppliedFile> alternate = {}; ///< by dwz, with the parts that files share
  bool wants_alternate = false;               ///< the main file refers to one, given or not
};

/// The DWARF of one ELF file in all places over which it is spread: its own sections, the alternate
/// file, and split DWARF. One thread.
class DwarfParts {
public:
  /// `questions` outlives this. nullptr: there is no DWARF in it, or a fault.
  static std::unique_ptr<DwarfParts> open(GivenFiles files, Questions& questions,
                                          std::shared_ptr<DwarfFault> fault);

  /// Calls `visit` with each unit, until there is a fault: first the file's own units, then split
  /// ones. Units of the alternate file are only reached by references: it holds other programs'
  /// types, too.
  void for_each_unit(const std::function<void(const DwarfUnit&)>& visit);

  DwarfFile& main() { return *main_; }
  const SplitDwarf& split() const { return split_; }
  /// What is wrong with the alternate file that was given; empty: nothing.
  const std::string& alternate_defect() const { return alternate_defect_; }

  /// Empty: there is no such file, or no such DIE (a fault).
  DwarfDie die_at(TypePlace place);
  /// nullopt: the place does not fit into a TypePlace.
  std::optional<TypePlace> place_of(const DwarfDie& die) const;

private:
  DwarfParts(Questions& questions, std::shared_ptr<DwarfFault> fault)
      : split_(questions, std::move(fault)) {}

  std::string alternate_defect_;
  std::unique_ptr<DwarfFile> alternate_; // main_ refers to it: ended after it
  std::unique_ptr<DwarfFile> main_;
  SplitDwarf split_;
};

} // namespace mqbridge
