#pragma once

#include "host/memory/platform.h"

#include <cstdint>
#include <optional>

namespace mqbridge {

/// The platform that an ELF header stands for: e_ident[EI_CLASS], e_ident[EI_DATA] and e_machine,
/// with the C data model that the class has on Linux (ILP32 or LP64). nullopt for values that ELF
/// does not have.
std::optional<Platform> elf_platform(std::uint8_t elf_class, std::uint8_t data,
                                     std::uint16_t machine);

} // namespace mqbridge
