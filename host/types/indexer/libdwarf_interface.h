#pragma once

#include <cstdint>
#include <dwarf.h>
#include <libdwarf.h>

/// What differs between libdwarf's interface of 2021 (20210528) and that of today (0.3 and later):
/// how it reads an object of ours, and how it opens and ends a file.
namespace mqbridge::libdwarf {

#ifdef DW_LIBDWARF_VERSION

using Object = Dwarf_Obj_Access_Interface_a;
using ObjectFunctions = Dwarf_Obj_Access_Methods_a;
using Section = Dwarf_Obj_Access_Section_a;
using SectionIndex = Dwarf_Unsigned;
using Endianness = Dwarf_Small;
constexpr Endianness big_endian = DW_END_big;
constexpr Endianness little_endian = DW_END_little;

#else

using Object = Dwarf_Obj_Access_Interface;
using ObjectFunctions = Dwarf_Obj_Access_Methods;
using Section = Dwarf_Obj_Access_Section;
using SectionIndex = Dwarf_Half;
using Endianness = Dwarf_Endianness;
constexpr Endianness big_endian = DW_OBJECT_MSB;
constexpr Endianness little_endian = DW_OBJECT_LSB;

#endif

/// An uncompressed section.
inline Section section(const char* name, std::uint64_t type, std::uint64_t address,
                       std::uint64_t size, std::uint64_t entry_size) {
  Section section{};
#ifdef DW_LIBDWARF_VERSION
  section.as_name = name;
  section.as_type = type;
  section.as_addr = address;
  section.as_size = size;
  section.as_entrysize = entry_size;
#else
  section.name = name;
  section.type = type;
  section.addr = address;
  section.size = size;
  section.entrysize = entry_size;
#endif
  return section;
}

/// The functions of an object whose sections need no relocation. `word_size` is that of a length
/// and that of a pointer.
constexpr ObjectFunctions
object_functions(int (*section_info)(void*, SectionIndex, Section*, int*),
                 Endianness (*byte_order)(void*), Dwarf_Small (*word_size)(void*),
                 Dwarf_Unsigned (*section_count)(void*),
                 int (*load_section)(void*, SectionIndex, Dwarf_Small**, int*)) {
#ifdef DW_LIBDWARF_VERSION
  // The size of the file is only the first size of a table of what libdwarf allocates: a thirtieth
  // of it. That would be hundreds of megabytes for a large file, of which little is in use at once.
  const auto no_size = [](void*) -> Dwarf_Unsigned { return 0; };
  return {section_info, byte_order,    word_size,    word_size,
          no_size,      section_count, load_section, nullptr};
#else
  return {section_info, byte_order, word_size, word_size, section_count, load_section, nullptr};
#endif
}

/// dwarf_init_b for reading; `fd` stays the caller's.
inline int open_file(int fd, Dwarf_Debug* debug, Dwarf_Error* error) {
#ifdef DW_LIBDWARF_VERSION
  return dwarf_init_b(fd, DW_GROUPNUMBER_ANY, nullptr, nullptr, debug, error);
#else
  return dwarf_init_b(fd, DW_DLC_READ, DW_GROUPNUMBER_ANY, nullptr, nullptr, debug, error);
#endif
}

/// Ends what open_file() began.
inline void close_file(Dwarf_Debug debug) {
#ifdef DW_LIBDWARF_VERSION
  dwarf_finish(debug);
#else
  Dwarf_Error error = nullptr;
  dwarf_finish(debug, &error);
#endif
}

/// Ends what dwarf_object_init_b() began.
inline void close_object(Dwarf_Debug debug) {
#ifdef DW_LIBDWARF_VERSION
  dwarf_object_finish(debug);
#else
  Dwarf_Error error = nullptr;
  dwarf_object_finish(debug, &error);
#endif
}

} // namespace mqbridge::libdwarf
