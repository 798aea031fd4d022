#include "host/mpi/launcher_programs.h"

#include <algorithm>
#include <array>
#include <span>

namespace mqbridge {
namespace {

constexpr std::string_view hydra_proxy = "hydra_pmi_proxy";

constexpr auto fronts = std::to_array<std::string_view>(
    {"mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.openmpi", "oshrun", "mpiexec.hydra",
     "mpirun.mpich", "mpiexec.mpich", "prterun", "prun", "srun"});
constexpr auto daemons = std::to_array<std::string_view>(
    {"orted", "prted", "prte", hydra_proxy, "hydra_bstrap_proxy", "slurmstepd"});

constexpr auto of_openmpi = std::to_array<std::string_view>(
    {"orterun", "mpirun.openmpi", "mpiexec.openmpi", "oshrun", "prterun", "prun"});
constexpr auto of_mpich =
    std::to_array<std::string_view>({"mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich"});

bool is_among(std::span<const std::string_view> names, std::string_view program) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return name.substr(0, kept_name_bytes) == program; });
}

} // namespace

LauncherRole launcher_role(std::string_view program) {
  if (is_among(fronts, program))
    return LauncherRole::front;
  return is_among(daemons, program) ? LauncherRole::daemon : LauncherRole::none;
}

std::string_view launcher_provider(std::string_view program) {
  if (std::ranges::find(of_openmpi, program) != of_openmpi.end())
    return "openmpi";
  return std::ranges::find(of_mpich, program) != of_mpich.end() ? "mpich" : "";
}

bool is_hydra_proxy(std::string_view program) {
  return program == hydra_proxy;
}

} // namespace mqbridge
