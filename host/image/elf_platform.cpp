#include "host/image/elf_platform.h"

#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// As `uname -m` says on such a machine.
std::string architecture(std::uint16_t machine, bool wide, bool big) {
  switch (machine) {
  case EM_X86_64:
    return "x86_64";
  case EM_386:
    return "i386";
  case EM_AARCH64:
    return "aarch64";
  case EM_ARM:
    return "arm";
  case EM_S390:
    return wide ? "s390x" : "s390";
  case EM_PPC:
    return "ppc";
  case EM_PPC64:
    return big ? "ppc64" : "ppc64le";
  case EM_MIPS:
    return wide ? "mips64" : "mips";
  case EM_RISCV:
    return wide ? "riscv64" : "riscv32";
  case EM_SPARC:
  case EM_SPARC32PLUS:
    return "sparc";
  case EM_SPARCV9:
    return "sparc64";
  case EM_68K:
    return "m68k";
  case EM_PARISC:
    return "parisc";
  case EM_LOONGARCH:
    return "loongarch64";
  default:
    return fmt::format("machine-{}",
                       machine); // ELF's own number: better than nothing for a message
  }
}

} // namespace

std::optional<Platform> elf_platform(std::uint8_t elf_class, std::uint8_t data,
                                     std::uint16_t machine) {
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64)
    return std::nullopt;
  if (data != ELFDATA2LSB && data != ELFDATA2MSB)
    return std::nullopt;
  const bool wide = elf_class == ELFCLASS64;
  const bool big = data == ELFDATA2MSB;
  Platform platform;
  platform.architecture = architecture(machine, wide, big);
  platform.byte_order = big ? ByteOrder::big : ByteOrder::little;
  platform.pointer_size = platform.long_size = platform.size_t_size = wide ? 8 : 4;
  return platform;
}

} // namespace mqbridge
