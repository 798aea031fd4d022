#pragma once

#include "host/disk/file_descriptor.h"
#include "host/types/indexer/dwarf_object.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <libdwarf.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

class DwarfFile;

/// The place of a DIE.
struct DiePlace {
  DwarfFile* file = nullptr;
  Dwarf_Off offset = 0;
  bool in_info = true; ///< .debug_info; else .debug_types
  auto operator<=>(const DiePlace&) const = default;
};

/// The first fault in the DWARF. The files over which one set of types is spread share it: a
/// look-up in one of them goes through the others.
struct DwarfFault {
  std::string what;       ///< empty: nothing
  std::uint32_t file = 0; ///< SuppliedFile::number

  bool any() const { return !what.empty(); }
};

/// A file that was opened for its DWARF, by somebody who knows where it is.
struct SuppliedFile {
  FileDescriptor fd;
  std::uint32_t number = 0; ///< its name in messages to them
};

/// One DIE, read with libdwarf. Empty if there is no such DIE. If libdwarf reports an error, the
/// answer is empty, too, and the file remembers the error: see DwarfFile::fault.
class DwarfDie {
public:
  DwarfDie() = default;

  explicit operator bool() const { return die_ != nullptr; }
  Dwarf_Half tag() const;
  DiePlace place() const;
  std::string_view name() const; ///< DW_AT_name; as long as the file
  bool flag(Dwarf_Half attribute) const;
  /// An attribute of class string; empty if it is absent or of another class. As long as the file.
  std::string_view text(Dwarf_Half attribute) const;
  /// An attribute of class constant, sign kept; nullopt if it is absent or of another class.
  std::optional<std::int64_t> number(Dwarf_Half attribute) const;
  /// DW_AT_data_member_location: a constant, or the simple location expressions that compilers
  /// write.
  std::optional<std::uint64_t> member_location() const;
  /// The DIE to which an attribute of class reference leads: in this unit, another unit, a type
  /// unit, or dwz's alternate file.
  DwarfDie reference(Dwarf_Half attribute) const;
  DwarfDie child() const;
  DwarfDie sibling() const;

private:
  friend class DwarfFile;
  struct End {
    void operator()(Dwarf_Die die) const { dwarf_dealloc_die(die); }
  };
  struct AttributeEnd {
    void operator()(Dwarf_Attribute attribute) const { dwarf_dealloc_attribute(attribute); }
  };
  using Attribute = std::unique_ptr<Dwarf_Attribute_s, AttributeEnd>;

  DwarfDie(DwarfFile* file, Dwarf_Die die) : file_(file), die_(die) {}
  Attribute attribute(Dwarf_Half attribute, Dwarf_Half& form) const;

  DwarfFile* file_ = nullptr;
  std::unique_ptr<Dwarf_Die_s, End> die_;
};

/// A unit of .debug_info or .debug_types.
struct DwarfUnit {
  DwarfDie die; ///< the first, which holds all others
  /// For a skeleton, and for its split unit: their common id (DWARF 5, 7.3.2.2; before that
  /// DW_AT_GNU_dwo_id).
  std::optional<std::uint64_t> split_id = {};
};

/// The DWARF of one ELF file, through libdwarf. One thread, for all of them.
class DwarfFile {
public:
  /// nullptr: no DWARF in it, or a fault. `fault` is shared with the other files of a set.
  static std::unique_ptr<DwarfFile> open(SuppliedFile file, std::shared_ptr<DwarfFault> fault);
  ~DwarfFile();
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  /// The file to which references and names of dwz's alternate forms lead (DW_FORM_GNU_ref_alt,
  /// DW_FORM_GNU_strp_alt). Not owned; outlives this. nullptr: it is missing; such names are then
  /// empty, and such references lead nowhere. For a file that has .gnu_debugaltlink, call this
  /// before anything is read.
  void set_alternate(DwarfFile* alternate);

  /// Calls `visit` with each unit of .debug_info, then of .debug_types, until there is a fault.
  void for_each_unit(const std::function<void(const DwarfUnit& unit)>& visit);
  /// `place` must be in this file.
  DwarfDie die_at(DiePlace place);

  bool faulty() const { return fault_->any(); }
  /// Remembers `what`, unless there was a fault already.
  void set_fault(std::string what);
  /// Sets a fault if this thread has no more time for its work (WorkScope). To be called every
  /// `dies_between_looks` DIEs.
  void end_if_over();
  static constexpr int dies_between_looks = 256;

private:
  friend class DwarfDie;
  DwarfFile(std::uint32_t number, std::shared_ptr<DwarfFault> fault)
      : number_(number), fault_(std::move(fault)) {}
  bool next_unit(bool in_info, Dwarf_Unsigned& next, std::optional<std::uint64_t>& split_id);
  /// True for DW_DLV_OK; remembers and frees the error of DW_DLV_ERROR. `error` by reference: it is
  /// set by the call whose outcome stands beside it, in no particular order.
  bool succeeded(int outcome, const Dwarf_Error& error, const char* call);

  std::uint32_t number_;
  std::shared_ptr<DwarfFault> fault_;
  std::unique_ptr<DwarfObject> object_; ///< null: libdwarf reads fd_ itself
  FileDescriptor fd_;
  Dwarf_Debug debug_ = nullptr;
  DwarfFile* alternate_ = nullptr;
  bool lacks_alternate_ = false;
};

} // namespace mqbridge
