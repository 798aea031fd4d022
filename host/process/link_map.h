#pragma once

#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/process/auxv.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// One entry of the link map: an object that the dynamic linker (or the kernel) loaded.
struct LoadedObject {
  std::string path; ///< as the target names it; may be empty
  LoadBias bias;
};

/// Facts from the executable's program headers in memory (AT_PHDR, AT_PHNUM).
struct ExecutableHeaders {
  TargetAddress elf_header; ///< of the executable, in memory
  LoadBias bias;
  /// Where the dynamic section is, and its size in bytes; nullopt: a static executable.
  std::optional<TargetAddress> dynamic;
  std::uint64_t dynamic_size = 0;
  bool has_interpreter = false; ///< PT_INTERP: a dynamic linker loads its libraries
};

/// The bias follows from PT_PHDR; where there is none (static executables), from the segment that
/// holds the program headers. Errors: memory.unreadable, image.no_headers, image.corrupt.
Result<ExecutableHeaders> read_executable_headers(Memory& memory, const Platform& platform,
                                                  const AuxiliaryVector& auxv);

/// The shared libraries of qXfer:libraries-svr4:read, in order, without the executable.
/// `last_address`: that a pointer of the target can hold. Error libraries.corrupt.
Result<std::vector<LoadedObject>> parse_libraries_svr4(std::string_view xml,
                                                       std::uint64_t last_address);

/// The shared libraries by the dynamic linker's own list, where the stub has none: DT_DEBUG of the
/// executable's dynamic section (on MIPS, where that section is read-only, DT_MIPS_RLD_MAP_REL or
/// DT_MIPS_RLD_MAP) leads to r_debug (SVR4 ABI, <link.h>), and that to the chain of link_map. The
/// chain is read some KiB at a time, all names in one call: `memory` should be a cache. Empty for a
/// static executable, or before the dynamic linker ran. Errors: memory.unreadable,
/// libraries.corrupt (a chain that does not end).
Result<std::vector<LoadedObject>> read_r_debug(Memory& memory, const Platform& platform,
                                               const ExecutableHeaders& executable);

} // namespace mqbridge
