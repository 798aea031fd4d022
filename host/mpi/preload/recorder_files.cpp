#include "host/mpi/preload/recorder_files.h"

#include "host/elf/elf_file.h"
#include "host/mpi/mpi_support.h"
#include "rsp/packet/printable.h"

#include <fmt/format.h>
#include <system_error>

namespace mqbridge::preload {
namespace fs = std::filesystem;

std::optional<fs::path> find_recorder(std::span<const fs::path> directories,
                                      std::string_view provider) {
  for (const auto& directory : directories) {
    std::error_code error;
    if (auto path = fs::canonical(directory / "recorder" / provider / recorder_name, error); !error)
      return path;
  }
  return std::nullopt;
}

std::string recorder_hint(std::span<const fs::path> directories, std::string_view provider,
                          const Platform& platform) {
  const auto found = find_recorder(directories, provider);
  const auto theirs = found ? read_elf_platform(*found) : Result<Platform>(Platform());
  if (!found || !theirs || theirs->architecture != platform.architecture)
    return "or rerun it with a recorder made for this MPI (docs/recorder.md): " + build_line();
  const auto line = support_of(provider).facts().launcher.preloading_line;
  return fmt::format("or rerun it with the recorder, for any transport: mqbridge run "
                     "--record-queues --timeout 10m -- mpirun ...\n"
                     "the recorder without `run`: {}",
                     fmt::format(fmt::runtime(line), pasteable(found->string())));
}

std::string build_line() {
  return fmt::format(
      "mpicc -std=c17 -O2 -fPIC -fexceptions -fvisibility=hidden -shared -I. dll/recorder/*.c "
      "dll/recorder/mpi/*.c -o {} -Wl,--as-needed,-z,nodelete -ldl -lpthread",
      recorder_name);
}

} // namespace mqbridge::preload
