#pragma once

#include "host/types/indexer/dwarf_file.h"
#include "host/types/indexer/questions.h"

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

/// Split DWARF that could not be used.
struct MissingSplit {
  std::string package = {};            ///< what is wrong with the package; empty: nothing
  std::uint32_t units = 0;             ///< whose file is not there, or is of another build
  std::uint32_t all_units = 0;         ///< that were looked for
  std::vector<std::string> first = {}; ///< the names of some of those that are missing
};

/// The split DWARF of one ELF file: its .dwp, which holds all units, or a .dwo for each. One
/// thread.
class SplitDwarf {
public:
  SplitDwarf(Questions& questions, std::shared_ptr<DwarfFault> fault)
      : questions_(questions), fault_(std::move(fault)) {}

  /// Calls `visit` with the units that belong to the skeletons, until there is a fault. Their DIEs
  /// are valid as long as this.
  void for_each_unit(const std::vector<Skeleton>& skeletons,
                     const std::function<void(const DwarfUnit&)>& visit);

  const MissingSplit& missing() const { return missing_; }

  /// The files that are in use, in the order in which they were opened; nullptr: there is none of
  /// that number.
  DwarfFile* file(std::uint64_t number) const {
    return number < files_.size() ? files_[number].get() : nullptr;
  }
  std::uint64_t number_of(const DwarfFile* file) const;

private:
  std::vector<Skeleton> visit_package(std::vector<Skeleton> wanted,
                                      const std::function<void(const DwarfUnit&)>& visit);
  bool visit_file(const Skeleton& skeleton, const std::function<void(const DwarfUnit&)>& visit);
  std::unique_ptr<DwarfFile> open(SuppliedFile file, std::string& why);

  Questions& questions_;
  std::shared_ptr<DwarfFault> fault_;
  std::vector<std::unique_ptr<DwarfFile>> files_;
  MissingSplit missing_;
};

} // namespace mqbridge
