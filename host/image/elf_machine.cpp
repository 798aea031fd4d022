#include "host/image/elf_machine.h"

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

} // namespace

Platform platform_of_elf(std::uint16_t machine, bool is_64, ByteOrder byte_order) {
  Platform platform;
  platform.architecture = architecture_name(machine, is_64, byte_order);
  platform.byte_order = byte_order;
  const int word = is_64 ? 8 : 4;
  platform.long_size = word;
  platform.pointer_size = word;
  platform.size_t_size = word;
  return platform;
}

} // namespace mqbridge
