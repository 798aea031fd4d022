#pragma once

#include "host/types/indexer/libdwarf_interface.h"
#include "host/types/indexer/mapped_elf.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace mqbridge {

/// A mapped ELF file in libdwarf's interface. It hands out sections where they are mapped;
/// libdwarf's own reader would copy each section into memory. Compressed sections are unpacked
/// here.
class DwarfObject {
public:
  explicit DwarfObject(MappedElf elf) : elf_(std::move(elf)), unpacked_(elf_.sections().size()) {}
  DwarfObject(const DwarfObject&) = delete;
  DwarfObject& operator=(const DwarfObject&) = delete;

  /// For dwarf_object_init_b; stays where it is as long as this.
  libdwarf::Object* interface() { return &interface_; }

private:
  static DwarfObject& of(void* object) { return *static_cast<DwarfObject*>(object); }
  static int section_info(void* object, libdwarf::SectionIndex index, libdwarf::Section* into,
                          int*) noexcept;
  static int load_section(void* object, libdwarf::SectionIndex index, Dwarf_Small** data,
                          int* error) noexcept;
  const std::byte* unpack(std::size_t index, int& error);

  static const libdwarf::ObjectFunctions functions;

  MappedElf elf_;
  std::vector<std::unique_ptr<std::byte[]>> unpacked_; ///< by section, as they were asked for
  libdwarf::Object interface_ = {this, &functions};
};

} // namespace mqbridge
