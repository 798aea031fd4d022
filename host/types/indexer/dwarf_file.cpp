#include "host/types/indexer/dwarf_file.h"

#include "host/disk/work_budget.h"

#include <cstring>
#include <dwarf.h>
#include <fmt/format.h>
#include <span>

namespace mqbridge {
namespace {

bool is_signed_constant(Dwarf_Half form) {
  return form == DW_FORM_sdata || form == DW_FORM_implicit_const;
}

bool is_unsigned_constant(Dwarf_Half form) {
  return form == DW_FORM_udata || form == DW_FORM_data1 || form == DW_FORM_data2 ||
         form == DW_FORM_data4 || form == DW_FORM_data8;
}

bool is_in_alternate(Dwarf_Half form) {
  return form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup || form == DW_FORM_GNU_ref_alt ||
         form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
}

bool is_string(Dwarf_Half form) {
  return form == DW_FORM_string || form == DW_FORM_strp || form == DW_FORM_line_strp ||
         form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) ||
         form == DW_FORM_GNU_str_index || form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup;
}

bool is_block(Dwarf_Half form) {
  return form == DW_FORM_block || form == DW_FORM_block1 || form == DW_FORM_block2 ||
         form == DW_FORM_block4;
}

// The offset in DW_OP_plus_uconst N or DW_OP_constu N. Compilers write nothing else for a member of
// a plain struct.
std::optional<std::uint64_t> offset_of(std::span<const std::uint8_t> expression) {
  if (expression.size() < 2)
    return std::nullopt;
  if (expression[0] != DW_OP_plus_uconst && expression[0] != DW_OP_constu)
    return std::nullopt;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const auto byte : expression.subspan(1)) {
    if (shift > 56)
      return std::nullopt;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    shift += 7;
    if ((byte & 0x80U) == 0)
      return value;
  }
  return std::nullopt;
}

} // namespace

Dwarf_Half DwarfDie::tag() const {
  Dwarf_Half tag = 0;
  Dwarf_Error error = nullptr;
  if (!die_)
    return 0;
  return file_->succeeded(dwarf_tag(die_.get(), &tag, &error), error, "dwarf_tag") ? tag
                                                                                   : Dwarf_Half{0};
}

DiePlace DwarfDie::place() const {
  DiePlace place;
  Dwarf_Error error = nullptr;
  if (!die_)
    return place;
  file_->succeeded(dwarf_dieoffset(die_.get(), &place.offset, &error), error, "dwarf_dieoffset");
  place.file = file_;
  place.in_info = dwarf_get_die_infotypes_flag(die_.get()) != 0;
  return place;
}

std::string_view DwarfDie::name() const {
  char* name = nullptr;
  Dwarf_Error error = nullptr;
  if (!die_)
    return {};
  // dwarf_diename makes up a text for a name that it cannot reach.
  if (file_->lacks_alternate_)
    return text(DW_AT_name);
  const bool ok =
      file_->succeeded(dwarf_diename(die_.get(), &name, &error), error, "dwarf_diename");
  return ok && name != nullptr ? std::string_view(name) : std::string_view();
}

std::string_view DwarfDie::text(Dwarf_Half name) const {
  Dwarf_Half form = 0;
  const auto found = attribute(name, form);
  if (!found || (is_in_alternate(form) && file_->alternate_ == nullptr))
    return {};
  if (!is_string(form))
    return {};
  char* text = nullptr;
  Dwarf_Error error = nullptr;
  const bool ok =
      file_->succeeded(dwarf_formstring(found.get(), &text, &error), error, "dwarf_formstring");
  return ok && text != nullptr ? std::string_view(text) : std::string_view();
}

DwarfDie::Attribute DwarfDie::attribute(Dwarf_Half name, Dwarf_Half& form) const {
  Dwarf_Attribute raw = nullptr;
  Dwarf_Error error = nullptr;
  if (!die_ || !file_->succeeded(dwarf_attr(die_.get(), name, &raw, &error), error, "dwarf_attr"))
    return nullptr;
  Attribute attribute(raw);
  if (!file_->succeeded(dwarf_whatform(raw, &form, &error), error, "dwarf_whatform"))
    return nullptr;
  return attribute;
}

bool DwarfDie::flag(Dwarf_Half name) const {
  Dwarf_Half form = 0;
  const auto found = attribute(name, form);
  if (!found || (form != DW_FORM_flag && form != DW_FORM_flag_present))
    return false;
  Dwarf_Bool value = 0;
  Dwarf_Error error = nullptr;
  return file_->succeeded(dwarf_formflag(found.get(), &value, &error), error, "dwarf_formflag") &&
         value != 0;
}

std::optional<std::int64_t> DwarfDie::number(Dwarf_Half name) const {
  Dwarf_Half form = 0;
  const auto found = attribute(name, form);
  Dwarf_Error error = nullptr;
  if (found && is_signed_constant(form)) {
    Dwarf_Signed value = 0;
    if (file_->succeeded(dwarf_formsdata(found.get(), &value, &error), error, "dwarf_formsdata"))
      return value;
  } else if (found && is_unsigned_constant(form)) {
    Dwarf_Unsigned value = 0;
    if (file_->succeeded(dwarf_formudata(found.get(), &value, &error), error, "dwarf_formudata"))
      return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> DwarfDie::member_location() const {
  if (const auto constant = number(DW_AT_data_member_location))
    return *constant < 0 ? std::nullopt : std::optional<std::uint64_t>(*constant);
  Dwarf_Half form = 0;
  const auto found = attribute(DW_AT_data_member_location, form);
  Dwarf_Error error = nullptr;
  if (found && form == DW_FORM_exprloc) {
    Dwarf_Unsigned size = 0;
    Dwarf_Ptr bytes = nullptr;
    if (file_->succeeded(dwarf_formexprloc(found.get(), &size, &bytes, &error), error,
                         "dwarf_formexprloc"))
      return offset_of({static_cast<const std::uint8_t*>(bytes), size});
  } else if (found && is_block(form)) {
    Dwarf_Block* block = nullptr;
    if (!file_->succeeded(dwarf_formblock(found.get(), &block, &error), error, "dwarf_formblock"))
      return std::nullopt;
    const auto offset =
        offset_of({static_cast<const std::uint8_t*>(block->bl_data), block->bl_len});
    dwarf_dealloc(file_->debug_, block, DW_DLA_BLOCK);
    return offset;
  }
  return std::nullopt;
}

DwarfDie DwarfDie::reference(Dwarf_Half name) const {
  Dwarf_Half form = 0;
  const auto found = attribute(name, form);
  Dwarf_Error error = nullptr;
  if (!found || (is_in_alternate(form) && file_->alternate_ == nullptr))
    return {};
  if (form == DW_FORM_ref_sig8) {
    Dwarf_Sig8 signature;
    Dwarf_Die die = nullptr;
    Dwarf_Bool in_info = 0;
    if (!file_->succeeded(dwarf_formsig8(found.get(), &signature, &error), error, "dwarf_formsig8"))
      return {};
    const int outcome =
        dwarf_find_die_given_sig8(file_->debug_, &signature, &die, &in_info, &error);
    if (!file_->succeeded(outcome, error, "dwarf_find_die_given_sig8"))
      return {};
    return {file_, die};
  }
  Dwarf_Off offset = 0;
  if (!file_->succeeded(dwarf_global_formref(found.get(), &offset, &error), error,
                        "dwarf_global_formref"))
    return {};
  auto* file = is_in_alternate(form) ? file_->alternate_ : file_;
  const bool in_info = file != file_ || form == DW_FORM_ref_addr || place().in_info;
  return file->die_at({file, offset, in_info});
}

DwarfDie DwarfDie::child() const {
  Dwarf_Die child = nullptr;
  Dwarf_Error error = nullptr;
  if (!die_ || !file_->succeeded(dwarf_child(die_.get(), &child, &error), error, "dwarf_child"))
    return {};
  return {file_, child};
}

DwarfDie DwarfDie::sibling() const {
  Dwarf_Die next = nullptr;
  Dwarf_Error error = nullptr;
  if (!die_)
    return {};
  const auto here = place();
  const int outcome = dwarf_siblingof_b(file_->debug_, die_.get(), here.in_info, &next, &error);
  if (!file_->succeeded(outcome, error, "dwarf_siblingof_b"))
    return {};
  DwarfDie sibling(file_, next);
  // DW_AT_sibling of a corrupt file may point back, for ever.
  if (sibling.place().offset > here.offset)
    return sibling;
  file_->set_fault(fmt::format("the sibling of the DIE at {:#x} does not follow it", here.offset));
  return {};
}

std::unique_ptr<DwarfFile> DwarfFile::open(SuppliedFile supplied,
                                           std::shared_ptr<DwarfFault> fault) {
  std::unique_ptr<DwarfFile> file(new DwarfFile(supplied.number, std::move(fault)));
  std::string why;
  auto elf = MappedElf::map(supplied.fd, why);
  if (!elf) {
    file->set_fault(std::move(why));
    return nullptr;
  }
  Dwarf_Error error = nullptr;
  int outcome = DW_DLV_ERROR;
  // Once libdwarf has read one file itself, it takes the objects of all other files for its own
  // kind, too: its function that asks for section flags is a global variable.
  static bool libdwarf_reads = false;
  libdwarf_reads = libdwarf_reads || elf->has_relocations();
  if (libdwarf_reads) {
    file->fd_ = std::move(supplied.fd);
    outcome = libdwarf::open_file(file->fd_.get(), &file->debug_, &error);
  } else {
    file->object_ = std::make_unique<DwarfObject>(std::move(*elf));
    outcome = dwarf_object_init_b(file->object_->interface(), nullptr, nullptr, DW_GROUPNUMBER_ANY,
                                  &file->debug_, &error);
  }
  return file->succeeded(outcome, error, "dwarf_init") ? std::move(file) : nullptr;
}

void DwarfFile::set_alternate(DwarfFile* alternate) {
  alternate_ = alternate;
  lacks_alternate_ = alternate == nullptr;
  if (alternate == nullptr)
    return;
  Dwarf_Error error = nullptr;
  succeeded(dwarf_set_tied_dbg(debug_, alternate->debug_, &error), error, "dwarf_set_tied_dbg");
}

DwarfFile::~DwarfFile() {
  if (debug_ == nullptr)
    return;
  if (object_)
    libdwarf::close_object(debug_);
  else
    libdwarf::close_file(debug_);
}

bool DwarfFile::succeeded(int outcome, const Dwarf_Error& error, const char* call) {
  if (outcome == DW_DLV_OK)
    return true;
  if (outcome == DW_DLV_ERROR && error != nullptr) {
    set_fault(fmt::format("{}: {}", call, dwarf_errmsg(error)));
    dwarf_dealloc_error(debug_, error);
  }
  return false;
}

void DwarfFile::set_fault(std::string what) {
  if (!faulty())
    *fault_ = {std::move(what), number_};
}

void DwarfFile::end_if_over() {
  if (const auto over = work_over())
    set_fault(over->message);
}

DwarfDie DwarfFile::die_at(DiePlace place) {
  Dwarf_Die die = nullptr;
  Dwarf_Error error = nullptr;
  const int outcome = dwarf_offdie_b(debug_, place.offset, place.in_info, &die, &error);
  if (succeeded(outcome, error, "dwarf_offdie_b"))
    return {this, die};
  set_fault(fmt::format("there is no DIE at {:#x}", place.offset));
  return {};
}

bool DwarfFile::next_unit(bool in_info, Dwarf_Unsigned& next,
                          std::optional<std::uint64_t>& split_id) {
  Dwarf_Unsigned length = 0;
  Dwarf_Unsigned type_offset = 0;
  Dwarf_Off abbreviations = 0;
  Dwarf_Half version = 0;
  Dwarf_Half address_size = 0;
  Dwarf_Half length_size = 0;
  Dwarf_Half extension_size = 0;
  Dwarf_Half unit_type = 0;
  Dwarf_Sig8 signature{};
  Dwarf_Error error = nullptr;
  const int outcome = dwarf_next_cu_header_d(debug_, in_info, &length, &version, &abbreviations,
                                             &address_size, &length_size, &extension_size,
                                             &signature, &type_offset, &next, &unit_type, &error);
  if (!succeeded(outcome, error, "dwarf_next_cu_header_d"))
    return false;
  split_id.reset();
  // The id is only compared with others that were read the same way: byte order does not matter.
  if (version >= 5 && (unit_type == DW_UT_skeleton || unit_type == DW_UT_split_compile))
    std::memcpy(&split_id.emplace(), &signature, sizeof signature);
  return true;
}

void DwarfFile::for_each_unit(const std::function<void(const DwarfUnit& unit)>& visit) {
  for (const bool in_info : {true, false}) {
    Dwarf_Unsigned next = 0;
    std::optional<std::uint64_t> split_id;
    for (Dwarf_Unsigned last = 0; next_unit(in_info, next, split_id) && next > last; last = next) {
      Dwarf_Die die = nullptr;
      Dwarf_Error error = nullptr;
      const int outcome = dwarf_siblingof_b(debug_, nullptr, in_info, &die, &error);
      if (!succeeded(outcome, error, "dwarf_siblingof_b"))
        break;
      DwarfDie first(this, die);
      if (const auto before_5 = first.number(DW_AT_GNU_dwo_id))
        split_id = static_cast<std::uint64_t>(*before_5);
      visit({std::move(first), split_id});
      if (faulty())
        return;
    }
  }
}

} // namespace mqbridge
