#include "host/mpi/preload/recorder_files.h"

#include "host/disk/checksum.h"
#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/mpi_support.h"
#include "rsp/packet/printable.h"

#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace mqbridge::preload {
namespace fs = std::filesystem;

std::optional<fs::path> find_recorder(std::span<const fs::path> directories,
                                      std::string_view owner) {
  for (const auto& directory : directories) {
    std::error_code error;
    if (auto path = fs::canonical(directory / "recorder" / owner / recorder_name, error); !error)
      return path;
  }
  return std::nullopt;
}

std::string recorder_hint(std::span<const fs::path> directories, std::string_view provider,
                          const Platform& platform) {
  const auto found = find_recorder(directories, provider);
  const auto theirs = found ? read_elf_platform(*found) : Result<Platform>(Platform());
  if (!found || !theirs || theirs->architecture != platform.architecture)
    return fmt::format(
        "or make a recorder for this MPI with its own compiler: {}\n"
        "then rerun the job: mqbridge run --record-queues --timeout 10m -- mpirun ...",
        make_line);
  const auto line = support_of(provider).facts().launcher.preloading_line;
  return fmt::format("or rerun it with the recorder, for any transport: mqbridge run "
                     "--record-queues --timeout 10m -- mpirun ...\n"
                     "the recorder without `run`: {}",
                     fmt::format(fmt::runtime(line), pasteable(found->string())));
}

Result<std::string> recorder_owner(const fs::path& mpi) {
  const auto elf = ElfReader::open(mpi);
  if (!elf)
    return Failure(elf.error());
  if (auto id = elf->build_id(); !id.empty())
    return id;
  const auto fd = elf->file().open();
  return fmt::format("{:016x}", checksum(read_range(fd, 0, elf->file().size())));
}

std::optional<fs::path> own_recorders() {
  const auto absolute = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && fs::path(value).is_absolute() ? fs::path(value) : fs::path();
  };
  if (const auto data = absolute("XDG_DATA_HOME"); !data.empty())
    return data / "mqbridge";
  if (const auto home = absolute("HOME"); !home.empty())
    return home / ".local/share/mqbridge";
  return std::nullopt;
}

} // namespace mqbridge::preload
