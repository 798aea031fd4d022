#pragma once

#include "host/types/indexer/dwarf_file.h"
#include "host/types/indexer/questions.h"
#include "host/types/indexer_wire.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// The reference of a skeleton unit to the file with the rest of it (-gsplit-dwarf; DWARF 5,
/// 3.1.2).
struct Skeleton {
  std::string name;      ///< DW_AT_dwo_name, DW_AT_GNU_dwo_name
  std::string directory; ///< DW_AT_comp_dir
  std::optional<std::uint64_t> id;

  /// nullopt: it is a whole unit, and no skeleton.
  static std::optional<Skeleton> of(const DwarfUnit& unit);
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

  /// What could not be used of it.
  const wire::MissingDwarf& missing() const { return missing_; }

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
  wire::MissingDwarf missing_;
};

} // namespace mqbridge
