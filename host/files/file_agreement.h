#pragma once

#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "rsp/result.h"

namespace mqbridge {

/// Whether the memory of a process holds the dynamic symbols and their names as `file` has them,
/// which is loaded there with `bias`: a file that came from another process, with the build-id of
/// this one's, may say of any symbol that it is elsewhere. It does not where it loads less than all
/// of them; a file without them tells nothing. Read a megabyte at a time: what differs ends it
/// early. Errors: those of `memory`.
Result<bool> agrees_with_memory(const ElfFile& file, LoadBias bias, Memory& memory);

} // namespace mqbridge
