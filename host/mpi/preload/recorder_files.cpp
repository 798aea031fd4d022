#include "host/mpi/preload/recorder_files.h"

#include "host/codes.h"
#include "host/disk/cache_directory.h"
#include "host/disk/checksum.h"
#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/mpi_support.h"
#include "rsp/packet/printable.h"

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
        "make a recorder for this MPI with its own compiler: {}\nthen rerun the job: {}", make_line,
        rerun_line);
  const auto line = support_of(provider).facts().launcher.preloading_line;
  return fmt::format("rerun it with the recorder, for any transport: {}\n"
                     "the recorder without `run`: {}",
                     rerun_line, fmt::format(fmt::runtime(line), pasteable(found->string())));
}

Result<std::string> recorder_owner(const fs::path& mpi) {
  const auto elf = ElfReader::open(mpi);
  if (!elf)
    return Failure(elf.error());
  if (auto id = elf->build_id(); !id.empty())
    return id;
  const auto bytes = read_range(elf->file().open(), 0, elf->file().size());
  if (bytes.empty())
    return fail(codes::elf_open, fmt::format("cannot read {}", mpi.string()));
  return fmt::format("{:016x}", checksum(bytes));
}

Result<void> check_preloadable(const fs::path& recorder) {
  if (recorder.native().find_first_of(" :$\t\n") == std::string::npos)
    return {};
  return fail("recorder.path",
              fmt::format("LD_PRELOAD cannot hold the path {}: it has a space, a colon or a '$'",
                          recorder.string()),
              "take a directory without these");
}

std::optional<fs::path> own_recorders() {
  const auto data = user_directory("XDG_DATA_HOME", ".local/share");
  return data ? std::optional(*data / "mqbridge") : std::nullopt;
}

} // namespace mqbridge::preload
