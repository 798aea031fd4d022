#pragma once

#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/process/auxv.h"
#include "rsp/result.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Where the ELF header of the executable may be: the program headers (AT_PHDR) usually stand right
/// behind it, and always in its page. Empty without AT_PHDR or AT_PAGESZ.
std::vector<TargetAddress> elf_header_candidates(const AuxiliaryVector& auxv);

/// Decides the platform of a Linux process from the process itself: word size and byte order from
/// its auxiliary vector and from the ELF header of the executable, found in memory below its
/// program headers (AT_PHDR); the rest from that header, the page size from the vector. Errors:
/// target.platform (no header, or header and vector contradict each other), memory.unreadable.
Result<Platform> probe_platform(Memory& memory, const AuxiliaryVector& auxv);

/// Decides the platform from the files that the user says are loaded there: from the first one.
/// `auxv` if the stub has it. Errors: target.platform (names both sides of a contradiction).
Result<Platform> platform_of_images(std::span<const std::shared_ptr<const ElfFile>> images,
                                    const std::optional<AuxiliaryVector>& auxv);

/// Compares with the architecture that the stub states in its target description (GDB's name,
/// target_description.h); empty or unknown names contradict nothing. A 64-bit machine may run a
/// 32-bit program. Error: target.platform.
Result<void> check_architecture(const Platform& platform, std::string_view described);

} // namespace mqbridge
