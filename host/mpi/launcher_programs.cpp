#include "host/mpi/launcher_programs.h"

#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <array>

namespace mqbridge {
namespace {

/// Fronts of several MPIs, or of Slurm.
constexpr auto common_fronts = std::to_array<std::string_view>({"mpirun", "mpiexec", "srun"});
constexpr std::string_view slurms_daemon = "slurmstepd";

bool is_kept_as(std::string_view name, std::string_view kept) {
  return name.substr(0, kept_name_bytes) == kept;
}

bool is_among(Names names, std::string_view kept) {
  return std::ranges::any_of(names, [&](auto name) { return is_kept_as(name, kept); });
}

} // namespace

LauncherRole launcher_role(std::string_view program) {
  if (is_among(common_fronts, program))
    return LauncherRole::front;
  if (program == slurms_daemon)
    return LauncherRole::daemon;
  for (const auto* mpi : known_mpis()) {
    const auto& launcher = mpi->facts().launcher;
    if (is_among(launcher.fronts, program))
      return LauncherRole::front;
    if (is_among(launcher.daemons, program))
      return LauncherRole::daemon;
  }
  return LauncherRole::none;
}

const MpiSupport* mpi_of_launcher(std::string_view program) {
  for (const auto* mpi : known_mpis())
    if (std::ranges::count(mpi->facts().launcher.fronts, program) != 0)
      return mpi;
  return nullptr;
}

const MpiSupport* mpi_of_naming_daemon(std::string_view program) {
  for (const auto* mpi : known_mpis())
    if (const auto daemon = mpi->facts().launcher.naming_daemon;
        !daemon.empty() && is_kept_as(daemon, program))
      return mpi;
  return nullptr;
}

} // namespace mqbridge
