#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mqbridge {

class MpiSupport;

/// The role of a program in starting MPI jobs.
enum class LauncherRole : std::uint8_t {
  none,
  front,  ///< started by a user: mpirun, srun
  daemon, ///< started by a front on each node: orted, hydra_pmi_proxy, slurmstepd
};

/// Bytes of a program's name that the kernel keeps: TASK_COMM_LEN without the NUL.
inline constexpr std::size_t kept_name_bytes = 15;

/// By the program's name as the kernel keeps it.
LauncherRole launcher_role(std::string_view program);

/// The MPI whose launcher has this name, if only one MPI uses the name; else nullptr.
const MpiSupport* mpi_of_launcher(std::string_view program);

/// The MPI whose daemon this is, if the daemon's command line names the job (MpiSupport::name_job);
/// else nullptr. `program`: as the kernel keeps it.
const MpiSupport* mpi_of_naming_daemon(std::string_view program);

} // namespace mqbridge
