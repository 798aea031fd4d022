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

/// Where a DIE is.
struct DiePlace {
  DwarfFile* file = nullptr;
  Dwarf_Off offset = 0;
  bool in_info = true; ///< .debug_info; else .debug_types
  auto operator<=>(const DiePlace&) const = default;
};

/// What was wrong with DWARF first. Shared by the files that one set of types is spread over: a
/// look-up in one of them goes through the others.
struct DwarfFault {
  std::string what;       ///< empty: nothing
  std::uint32_t file = 0; ///< SuppliedFile::number

  bool any() const { return !what.empty(); }
};

/// A file that was opened for its DWARF, by somebody who knows where it is.
struct SuppliedFile {
  FileDescriptor fd;
  std::uint32_t number = 0; ///< names it in messages to them
};

/// One DIE, read with libdwarf. Empty when the question had no answer. What libdwarf reports as an
/// error leaves the answer empty too, and is remembered by the file: see DwarfFile::fault.
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
  /// The DIE that an attribute of class reference names: in this unit, another one, a type unit, or
  /// dwz's alternate file.
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
  /// Of a skeleton, and of the split unit that belongs to it (DWARF 5, 7.3.2.2; before it
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

  /// Where references and names of dwz's alternate forms (DW_FORM_GNU_ref_alt,
  /// DW_FORM_GNU_strp_alt) lead. Not owned; outlives this. nullptr: it is missing, such names are
  /// empty and such references lead nowhere. To be said before anything is read of a file that has
  /// .gnu_debugaltlink.
  void set_alternate(DwarfFile* alternate);

  /// Calls `visit` with each unit of .debug_info, then of .debug_types, until there is a fault.
  void for_each_unit(const std::function<void(const DwarfUnit& unit)>& visit);
  /// `place` is in this file.
  DwarfDie die_at(DiePlace place);

  bool faulty() const { return fault_->any(); }
  /// Remembers `what` unless something was wrong already.
  void set_fault(std::string what);
  /// A fault if this thread's work is over (WorkScope).
  void end_if_over();

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
