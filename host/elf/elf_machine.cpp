#include "host/elf/elf_machine.h"

#include "host/memory/reader.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

// What `uname -m` says where the class or the byte order chooses between names.
struct Machine {
  std::uint16_t machine;
  const char* name_32;
  const char* name_64;
  const char* name_64_little = nullptr; // if it differs from name_64
};

constexpr Machine machines[] = {
    {EM_X86_64, "x86_64", "x86_64"},
    {EM_386, "i386", "i386"},
    {EM_AARCH64, "aarch64_be", "aarch64_be", "aarch64"},
    {EM_ARM, "arm", "arm"},
    {EM_S390, "s390", "s390x"},
    {EM_PPC, "ppc", "ppc"},
    {EM_PPC64, "ppc64", "ppc64", "ppc64le"},
    {EM_MIPS, "mips", "mips64"},
    {EM_RISCV, "riscv32", "riscv64"},
    {EM_SPARC, "sparc", "sparc"},
    {EM_SPARC32PLUS, "sparc", "sparc"},
    {EM_SPARCV9, "sparc64", "sparc64"},
    {EM_68K, "m68k", "m68k"},
    {EM_PARISC, "parisc", "parisc64"},
    {EM_ALPHA, "alpha", "alpha"},
    {EM_IA_64, "ia64", "ia64"},
    {EM_SH, "sh4", "sh4"},
    {EM_LOONGARCH, "loongarch32", "loongarch64"},
};

std::string architecture_name(std::uint16_t machine, bool is_64, ByteOrder byte_order) {
  for (const auto& known : machines) {
    if (known.machine != machine)
      continue;
    if (!is_64)
      return known.name_32;
    if (byte_order == ByteOrder::little && known.name_64_little != nullptr)
      return known.name_64_little;
    return known.name_64;
  }
  return fmt::format("e_machine {}", machine);
}

// The ABI field of a MIPS header's e_flags; n32 has a flag of its own. Not in <elf.h>.
constexpr std::uint32_t mips_abi_mask = 0xf000;
constexpr std::uint32_t mips_o64 = 0x2000;
constexpr std::uint32_t mips_eabi64 = 0x4000;

bool is_mips_abi(const ElfIdentity& header, std::uint32_t abi) {
  return header.machine == EM_MIPS && (header.flags & mips_abi_mask) == abi;
}

/// n32 and o64 run on 64-bit registers, with 32-bit longs and pointers.
bool has_64_bit_registers(const ElfIdentity& header) {
  const bool n32 = header.machine == EM_MIPS && (header.flags & EF_MIPS_ABI2) != 0;
  return header.is_64 || n32 || is_mips_abi(header, mips_o64) || is_mips_abi(header, mips_eabi64);
}

/// The psABIs that align less than the size of what is aligned.
void set_alignments(Platform& platform, const ElfIdentity& header) {
  if (header.machine == EM_68K)
    platform.pointer_alignment = platform.int64_alignment = 2;
  const bool arm_before_eabi = header.machine == EM_ARM && (header.flags & EF_ARM_EABIMASK) == 0;
  if (header.machine == EM_386 || header.machine == EM_SH || arm_before_eabi)
    platform.int64_alignment = 4;
}

} // namespace

std::optional<ElfIdentity> parse_elf_identity(std::span<const std::byte> header) {
  if (header.size() < EI_NIDENT || std::memcmp(header.data(), ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  const auto elf_class = std::to_integer<std::uint8_t>(header[EI_CLASS]);
  const auto data = std::to_integer<std::uint8_t>(header[EI_DATA]);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64)
    return std::nullopt;
  if (data != ELFDATA2LSB && data != ELFDATA2MSB)
    return std::nullopt;
  const bool is_64 = elf_class == ELFCLASS64;
  if (header.size() < (is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
    return std::nullopt;
  const auto order = data == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto flags_at = is_64 ? offsetof(Elf64_Ehdr, e_flags) : offsetof(Elf32_Ehdr, e_flags);
  const auto field = [&](std::size_t at, std::size_t size) {
    return decode_unsigned(header.subspan(at, size), order);
  };
  return ElfIdentity{static_cast<std::uint16_t>(field(offsetof(Elf64_Ehdr, e_machine), 2)), is_64,
                     order, static_cast<std::uint32_t>(field(flags_at, 4))};
}

Platform platform_of_elf(const ElfIdentity& header) {
  Platform platform;
  platform.architecture =
      architecture_name(header.machine, has_64_bit_registers(header), header.byte_order);
  platform.byte_order = header.byte_order;
  const bool wide = header.is_64 || is_mips_abi(header, mips_eabi64);
  platform.set_data_model(wide ? DataModel::lp64 : DataModel::ilp32);
  set_alignments(platform, header);
  return platform;
}

} // namespace mqbridge
