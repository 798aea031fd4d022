#pragma once

#include "host/elf/elf_file.h"
#include "host/process/core/core_memory.h"

#include <cstdint>

namespace mqbridge {

/// Whether a core file shows that a file is the one that ran, if it has no build-id of it.
enum class CoreAgreement : std::uint8_t {
  contradicted, ///< mappings, read-only bytes or the dynamic section differ
  untold,       ///< the core has too little of the file
  shown,        ///< the dynamic section is the same, or a page of read-only bytes
};

/// Compares `file`, if it was loaded with `bias`, with the contents of `core` there. `memory`: that
/// of the core alone, without any file.
///
/// In the dynamic section, tags must be equal, and values must be the file's, relocated or not.
/// Builds differ there in the addresses and sizes of code, symbols and relocations.
CoreAgreement agreement_with_core(const ElfFile& file, LoadBias bias, const CoreFile& core,
                                  Memory& memory);

} // namespace mqbridge
