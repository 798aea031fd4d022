#include "tests/builders/dwarf_builder.h"

#include <dwarf.h>
#include <vector>

namespace mqbridge::test {
namespace {

enum Abbreviation : std::uint8_t {
  unit = 1,
  structure_die,
  declaration_die,
  member_die,
  anonymous_die,
  array_die,
  subrange_die,
  base_die,
  pointer_die,
  typedef_die,
  sibling_die,
};

} // namespace

std::string DwarfBuilder::abbreviations() {
  struct Attribute {
    std::uint8_t name;
    std::uint8_t form;
  };
  struct Entry {
    std::uint8_t code;
    std::uint8_t tag;
    bool children;
    std::vector<Attribute> attributes;
  };
  const Attribute name{DW_AT_name, DW_FORM_string};
  const Attribute type{DW_AT_type, DW_FORM_ref4};
  const Attribute size{DW_AT_byte_size, DW_FORM_udata};
  const Attribute place{DW_AT_data_member_location, DW_FORM_udata};
  ByteWriter out(ByteOrder::little); // bytes only
  for (const auto& [code, tag, children, attributes] : std::vector<Entry>{
           {unit, DW_TAG_compile_unit, true, {}},
           {structure_die, DW_TAG_structure_type, true, {name, size}},
           {declaration_die,
            DW_TAG_structure_type,
            false,
            {name, {DW_AT_declaration, DW_FORM_flag_present}}},
           {member_die, DW_TAG_member, false, {name, type, place}},
           {anonymous_die, DW_TAG_member, false, {type, place}},
           {array_die, DW_TAG_array_type, true, {type}},
           {subrange_die, DW_TAG_subrange_type, false, {{DW_AT_upper_bound, DW_FORM_udata}}},
           {base_die, DW_TAG_base_type, false, {name, size}},
           {pointer_die, DW_TAG_pointer_type, false, {}},
           {typedef_die, DW_TAG_typedef, false, {name, type}},
           {sibling_die,
            DW_TAG_structure_type,
            true,
            {name, size, {DW_AT_sibling, DW_FORM_ref4}}}}) {
    out.number(code, 1).number(tag, 1).number(children ? 1 : 0, 1);
    for (const auto& attribute : attributes)
      out.number(attribute.name, 1).number(attribute.form, 1);
    out.number(0, 2);
  }
  return out.number(0, 1).bytes();
}

ElfBuilder DwarfBuilder::build(const ElfShape& shape, const Writing& writing) {
  ElfBuilder elf(shape);
  elf.add_section(".debug_info", SHT_PROGBITS, info(shape, writing));
  elf.add_section(".debug_abbrev", SHT_PROGBITS, abbreviations());
  return elf;
}

std::string DwarfBuilder::info(const ElfShape& shape, const Writing& writing) {
  std::map<std::string, std::uint64_t, std::less<>> labels;
  std::uint64_t length = 0;
  std::string bytes;
  for (int pass = 0; pass < 2; ++pass) {
    DwarfBuilder dies(shape, labels);
    dies.begin_unit(shape, length);
    writing(dies);
    dies.end();
    labels = dies.labels_;
    length = dies.info_.size() - 4;
    bytes = dies.info_.bytes();
  }
  return bytes;
}

void DwarfBuilder::begin_unit(const ElfShape& shape, std::uint64_t length) {
  info_.number(length, 4).number(4, 2).number(0, 4);
  info_.number(static_cast<std::uint64_t>(shape.word()), 1).number(unit, 1);
}

DwarfBuilder& DwarfBuilder::label(std::string_view name) {
  labels_[std::string(name)] = info_.size();
  return *this;
}

DwarfBuilder& DwarfBuilder::reference(std::string_view label) {
  const auto found = labels_.find(label);
  info_.number(found == labels_.end() ? 0x7fffffff : found->second, 4);
  return *this;
}

DwarfBuilder& DwarfBuilder::leb(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    info_.number(value | 0x80, 1);
  info_.number(value, 1);
  return *this;
}

DwarfBuilder& DwarfBuilder::structure(std::string_view name, std::uint64_t size) {
  info_.number(structure_die, 1).text(name);
  return leb(size);
}

DwarfBuilder& DwarfBuilder::declaration(std::string_view name) {
  info_.number(declaration_die, 1).text(name);
  return *this;
}

DwarfBuilder& DwarfBuilder::member(std::string_view name, std::string_view type,
                                   std::uint64_t offset) {
  info_.number(member_die, 1).text(name);
  return reference(type).leb(offset);
}

DwarfBuilder& DwarfBuilder::anonymous_member(std::string_view type, std::uint64_t offset) {
  info_.number(anonymous_die, 1);
  return reference(type).leb(offset);
}

DwarfBuilder& DwarfBuilder::array(std::string_view type, std::uint64_t last_index) {
  info_.number(array_die, 1);
  reference(type);
  info_.number(subrange_die, 1);
  return leb(last_index).end();
}

DwarfBuilder& DwarfBuilder::base(std::string_view name, std::uint8_t size) {
  info_.number(base_die, 1).text(name);
  return leb(size);
}

DwarfBuilder& DwarfBuilder::pointer() {
  info_.number(pointer_die, 1);
  return *this;
}

DwarfBuilder& DwarfBuilder::type_definition(std::string_view name, std::string_view type) {
  info_.number(typedef_die, 1).text(name);
  return reference(type);
}

DwarfBuilder& DwarfBuilder::with_sibling(std::string_view name, std::string_view sibling) {
  info_.number(sibling_die, 1).text(name);
  return leb(4).reference(sibling).end();
}

DwarfBuilder& DwarfBuilder::end() {
  info_.number(0, 1);
  return *this;
}

} // namespace mqbridge::test
