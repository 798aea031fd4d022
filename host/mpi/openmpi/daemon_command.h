#pragma once

#include "host/mpi/mpi_support.h"

#include <optional>
#include <span>
#include <string_view>

namespace mqbridge::openmpi {

/// PRRTE's launchers (Open MPI 5: mpirun is prterun) have no MPIR_proctable. They start a daemon on
/// each other node by ssh or srun, and these command lines say which jobs the daemon is for, and
/// how many daemons there are: `... --prtemca ess_base_nspace "prterun-vm-23326@0" ... --prtemca
/// ess_base_num_procs "3"`. The launcher is one of them. Its jobs are "prterun-vm-23326@1" and so
/// on. nullopt: `command` starts no daemon.
std::optional<DaemonCommand> read_daemon_command(std::span<const std::string_view> command);

} // namespace mqbridge::openmpi
