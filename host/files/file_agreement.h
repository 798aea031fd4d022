#pragma once

#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "rsp/result.h"

namespace mqbridge {

/// Whether the memory of a process, where `file` is loaded with `bias`, holds the same dynamic
/// symbols and names as the file. This is for files that came from another process: with the same
/// build-id such a file might still lie about its symbols. False if the file loads only a part of
/// them; true if it has none. Memory is read a megabyte at a time: the first difference ends it.
/// Errors: those of `memory`.
Result<bool> agrees_with_memory(const ElfFile& file, LoadBias bias, Memory& memory);

} // namespace mqbridge
