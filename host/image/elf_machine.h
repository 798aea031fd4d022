#pragma once

#include "host/memory/platform.h"

#include <cstdint>

namespace mqbridge {

/// The platform that an ELF header states. Sizes follow the C data models of the ELF psABIs: ILP32
/// for ELFCLASS32 (x32, n32 and the like included), LP64 for ELFCLASS64. `machine` is e_machine;
/// `is_64` is the class.
Platform platform_of_elf(std::uint16_t machine, bool is_64, ByteOrder byte_order);

} // namespace mqbridge
