#include "host/mpi/openmpi/carrier_hint.h"

#include "host/elf/elf_file.h"

#include <fmt/format.h>

namespace mqbridge::openmpi {

bool is_this_machine(const Platform& platform) {
  const auto ours = read_elf_platform("/proc/self/exe");
  return ours && ours->architecture == platform.architecture;
}

std::string carrier_line(const Platform& platform, std::string_view more) {
  return fmt::format(
      "mqbridge types make --mpi openmpi {}{}-o ompi.types.so    then: --types ompi.types.so",
      is_this_machine(platform) ? "" : "--cc CROSS-COMPILER --include DIR ", more);
}

} // namespace mqbridge::openmpi
