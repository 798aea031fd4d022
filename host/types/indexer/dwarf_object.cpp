#include "host/types/indexer/dwarf_object.h"

#include <new>
#include <zlib.h>

namespace mqbridge {

int DwarfObject::section_info(void* object, libdwarf::SectionIndex index, libdwarf::Section* into,
                              int*) noexcept {
  const auto sections = of(object).elf_.sections();
  if (index >= sections.size())
    return DW_DLV_NO_ENTRY;
  const auto& section = sections[index];
  // SHT_MIPS_DWARF means the same as SHT_PROGBITS.
  *into = libdwarf::section(section.name.c_str(), SHT_PROGBITS, section.address,
                            section.unpacked_size.value_or(section.size), section.entry_size);
  return DW_DLV_OK;
}

// libdwarf only writes to a section, for relocating it, after it has made a copy.
int DwarfObject::load_section(void* object, libdwarf::SectionIndex index, Dwarf_Small** data,
                              int* error) noexcept {
  auto& self = of(object);
  if (index >= self.elf_.sections().size())
    return DW_DLV_NO_ENTRY;
  const auto& section = self.elf_.sections()[index];
  const auto* bytes =
      section.unpacked_size ? self.unpack(index, *error) : self.elf_.bytes(section).data();
  *data = reinterpret_cast<Dwarf_Small*>(const_cast<std::byte*>(bytes));
  return bytes == nullptr ? DW_DLV_ERROR : DW_DLV_OK;
}

const std::byte* DwarfObject::unpack(std::size_t index, int& error) {
  const auto& section = elf_.sections()[index];
  const auto packed = elf_.bytes(section);
  auto& unpacked = unpacked_[index];
  uLongf size = *section.unpacked_size;
  unpacked.reset(new (std::nothrow) std::byte[size]);
  if (!unpacked) {
    error = DW_DLE_ALLOC_FAIL;
    return nullptr;
  }
  const int outcome = ::uncompress(reinterpret_cast<Bytef*>(unpacked.get()), &size,
                                   reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (outcome == Z_OK && size == *section.unpacked_size)
    return unpacked.get();
  error = DW_DLE_ZLIB_DATA_ERROR;
  return nullptr;
}

const libdwarf::ObjectFunctions DwarfObject::functions = libdwarf::object_functions(
    section_info,
    [](void* object) {
      return of(object).elf_.byte_order() == ByteOrder::big ? libdwarf::big_endian
                                                            : libdwarf::little_endian;
    },
    [](void* object) { return Dwarf_Small(of(object).elf_.is_64() ? 8 : 4); },
    [](void* object) -> Dwarf_Unsigned { return of(object).elf_.sections().size(); }, load_section);

} // namespace mqbridge
