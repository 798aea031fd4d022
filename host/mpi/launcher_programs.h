#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mqbridge {

/// What a program has to do with the start of MPI jobs.
enum class LauncherRole : std::uint8_t {
  none,
  front,  ///< what a user starts: mpirun, srun
  daemon, ///< what that starts on each node: orted, hydra_pmi_proxy, slurmstepd
};

/// Bytes of a program's name that the kernel keeps: TASK_COMM_LEN without the NUL.
inline constexpr std::size_t kept_name_bytes = 15;

/// By the program's name as the kernel keeps it.
LauncherRole launcher_role(std::string_view program);

/// Whose launcher a program of this name is, where only one MPI calls its own so: "openmpi",
/// "mpich" (or another one with its hydra); else empty.
std::string_view launcher_provider(std::string_view program);

/// That of MPICH's hydra, whose command line names the job: its ranks say nothing of it.
bool is_hydra_proxy(std::string_view program);

} // namespace mqbridge
