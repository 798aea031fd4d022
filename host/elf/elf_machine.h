#pragma once

#include "host/memory/architecture.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mqbridge {

/// The facts about a machine in an ELF header.
struct ElfIdentity {
  std::uint16_t machine = 0; ///< e_machine
  bool is_64 = false;        ///< the class: ELFCLASS64
  ByteOrder byte_order = ByteOrder::little;
  std::uint32_t flags = 0; ///< e_flags
};

/// The longest ELF header, that of ELFCLASS64: parse_elf_identity() uses no more bytes.
inline constexpr std::size_t max_elf_header = 64;

/// From the bytes of an ELF header, of either class and byte order. nullopt: they are no such
/// header, or are cut short.
std::optional<ElfIdentity> parse_elf_identity(std::span<const std::byte> header);

const Architecture& architecture_of(const ElfIdentity& header);

/// The platform that an ELF header states. Sizes follow the C data models of the ELF psABIs: ILP32
/// for ELFCLASS32 (x32 and MIPS n32 included), LP64 for ELFCLASS64 and, by its flags, for MIPS
/// EABI64, whose files have the 32-bit class. Alignments are those of the psABIs, too.
Platform platform_of_elf(const ElfIdentity& header);

} // namespace mqbridge
