#pragma once

#include "host/image/elf_file.h"
#include "host/image/file_finder.h"
#include "host/image/types.h"

namespace mqbridge {

/// The types of one ELF file's DWARF, read with libdwarf: .debug_info of versions 2 to 5, 32- and
/// 64-bit format, compressed, type units. Names are indexed on the first find(); layouts are
/// resolved on demand. A bit-field is listed at the offset of its storage unit. A type that is only
/// declared is not known here. What dwz moved to an alternate file, and split DWARF, are looked for
/// by `paths`, and warned of where they are missing. Errors: dwarf.none, dwarf.corrupt,
/// dwarf.compression, elf.open.
Result<std::shared_ptr<TypeSource>> open_dwarf_types(std::shared_ptr<const ElfFile> file,
                                                     FilePaths paths = {});

} // namespace mqbridge
