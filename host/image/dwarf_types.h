#pragma once

#include "host/image/elf_file.h"
#include "host/image/types.h"

namespace mqbridge {

/// The types of one ELF file's DWARF, read with libdwarf: .debug_info of 4 and 5, 32- and 64-bit
/// format, compressed. Names are indexed on the first find(); layouts are resolved on demand.
Result<std::shared_ptr<TypeSource>> open_dwarf_types(std::shared_ptr<const ElfFile> file);

} // namespace mqbridge
