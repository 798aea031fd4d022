#include "host/image/indexer/dwarf_object.h"

namespace mqbridge {

int DwarfObject::section_info(void* object, Dwarf_Half index, Dwarf_Obj_Access_Section* into,
                              int*) {
  const auto sections = of(object).elf_.sections();
  if (index >= sections.size())
    return DW_DLV_NO_ENTRY;
  const auto& section = sections[index];
  *into = {};
  into->addr = section.address;
  into->type = SHT_PROGBITS; // SHT_MIPS_DWARF means the same
  into->size = section.size;
  into->name = section.name.c_str();
  into->entrysize = section.entry_size;
  return DW_DLV_OK;
}

// libdwarf writes to no section that it did not copy first: to relocate it, or to undo compression.
int DwarfObject::load_section(void* object, Dwarf_Half index, Dwarf_Small** data, int*) {
  const auto& elf = of(object).elf_;
  if (index >= elf.sections().size())
    return DW_DLV_NO_ENTRY;
  const auto bytes = elf.bytes(elf.sections()[index]);
  *data = reinterpret_cast<Dwarf_Small*>(const_cast<std::byte*>(bytes.data()));
  return DW_DLV_OK;
}

const Dwarf_Obj_Access_Methods DwarfObject::methods = {
    .get_section_info = section_info,
    .get_byte_order =
        [](void* object) {
          return of(object).elf_.byte_order() == ByteOrder::big ? DW_OBJECT_MSB : DW_OBJECT_LSB;
        },
    .get_length_size = [](void* object) { return Dwarf_Small(of(object).elf_.is_64() ? 8 : 4); },
    .get_pointer_size = [](void* object) { return Dwarf_Small(of(object).elf_.is_64() ? 8 : 4); },
    .get_section_count = [](void* object) -> Dwarf_Unsigned {
      return of(object).elf_.sections().size();
    },
    .load_section = load_section,
    .relocate_a_section = nullptr,
};

} // namespace mqbridge
