#pragma once

#include "host/elf/elf_file.h"
#include "host/process/core/core_memory.h"

#include <cstdint>

namespace mqbridge {

/// What a core tells of whether a file is the one that ran, where it has no build-id of it.
enum class CoreAgreement : std::uint8_t {
  contradicted, ///< mappings, read-only bytes or the dynamic section are others
  untold,       ///< the core has too little of the file
  shown,        ///< the dynamic section is the same, or a page of read-only bytes
};

/// Compares `file`, if it was loaded with `bias`, with what `core` itself has there. `memory`: that
/// of the core alone, no file added.
///
/// Of the dynamic section, tags must be equal, and values as the file has them or relocated. It
/// tells builds apart by the addresses and sizes of code, symbols and relocations.
CoreAgreement agreement_with_core(const ElfFile& file, LoadBias bias, const CoreFile& core,
                                  Memory& memory);

} // namespace mqbridge
