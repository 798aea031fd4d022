#pragma once

#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mqbridge {

/// What an ELF header says about the machine that the file is for.
struct ElfIdentity {
  std::uint16_t machine = 0; ///< e_machine
  bool is_64 = false;        ///< the class: ELFCLASS64
  ByteOrder byte_order = ByteOrder::little;
  std::uint32_t flags = 0; ///< e_flags
};

/// The longest ELF header, that of ELFCLASS64: what parse_elf_identity() can make use of.
inline constexpr std::size_t max_elf_header = 64;

/// From the bytes of an ELF header, of either class and byte order. nullopt: it is none, or it is
/// cut short.
std::optional<ElfIdentity> parse_elf_identity(std::span<const std::byte> header);

/// The platform that an ELF header states. Sizes follow the C data models of the ELF psABIs: ILP32
/// for ELFCLASS32 (x32 and MIPS n32 included), LP64 for ELFCLASS64 and, by its flags, for MIPS
/// EABI64, whose files have the 32-bit class. Alignments are those of the psABIs, too.
Platform platform_of_elf(const ElfIdentity& header);

} // namespace mqbridge
