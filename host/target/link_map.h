#pragma once

#include "host/image/elf_file.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/target/auxv.h"
#include "rsp/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// One entry of the link map: an object that the dynamic linker (or the kernel) loaded.
struct LoadedObject {
  std::string path; ///< as the target names it; may be empty
  LoadBias bias;
};

/// The executable's load bias, from its program headers in memory (AT_PHDR against PT_PHDR; without
/// PT_PHDR, AT_ENTRY against `entry` where the file is at hand). Errors: memory.unreadable,
/// image.no_headers.
Result<LoadBias> executable_bias(Memory& memory, const Platform& platform,
                                 const AuxiliaryVector& auxv, std::optional<FileAddress> entry);

/// The shared libraries of qXfer:libraries-svr4:read, in order, without the executable. Error
/// libraries.corrupt.
Result<std::vector<LoadedObject>> parse_libraries_svr4(std::string_view xml);

/// The shared libraries by the dynamic linker's own list, where the stub has none: DT_DEBUG of the
/// executable's dynamic section leads to r_debug (SVR4 ABI, <link.h>), and that to the chain of
/// link_map. Empty for a static executable, or before the dynamic linker ran. Errors:
/// memory.unreadable, libraries.corrupt (a chain that does not end).
Result<std::vector<LoadedObject>> read_r_debug(Memory& memory, const Platform& platform,
                                               const AuxiliaryVector& auxv, LoadBias executable);

} // namespace mqbridge
