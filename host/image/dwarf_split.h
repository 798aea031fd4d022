#pragma once

#include "host/image/dwarf_file.h"
#include "host/image/elf_file.h"
#include "host/image/file_finder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// What a skeleton unit says of the file that holds the rest of it (-gsplit-dwarf; DWARF 5, 3.1.2).
struct Skeleton {
  std::string name;      ///< DW_AT_dwo_name, DW_AT_GNU_dwo_name
  std::string directory; ///< DW_AT_comp_dir
  std::optional<std::uint64_t> id;

  /// nullopt: a whole unit.
  static std::optional<Skeleton> of(const DwarfUnit& unit);
};

/// The split DWARF of one ELF file: its .dwp, which holds all units, or a .dwo for each. One thread
/// at a time.
class SplitDwarf {
public:
  SplitDwarf(const ElfFile& elf, const FilePaths& paths, std::shared_ptr<DwarfFault> fault)
      : elf_(elf), paths_(paths), fault_(std::move(fault)) {}

  /// Calls `visit` with the units that belong to the skeletons, until there is a fault. Their DIEs
  /// are valid as long as this.
  void for_each_unit(const std::vector<Skeleton>& skeletons,
                     const std::function<void(const DwarfUnit&)>& visit);

  /// Units that were not found, or are of another build: dwarf.split_missing.
  std::vector<Error> take_warnings() { return std::exchange(warnings_, {}); }

private:
  std::vector<Skeleton> visit_package(std::vector<Skeleton> wanted,
                                      const std::function<void(const DwarfUnit&)>& visit);
  bool visit_file(const Skeleton& skeleton, const std::function<void(const DwarfUnit&)>& visit);
  void report_missing(const std::vector<std::string>& missing, std::size_t all);

  const ElfFile& elf_;
  const FilePaths& paths_;
  std::shared_ptr<DwarfFault> fault_;
  std::vector<std::unique_ptr<DwarfFile>> files_;
  std::vector<Error> warnings_;
};

} // namespace mqbridge
