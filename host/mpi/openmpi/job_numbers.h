#pragma once

#include <string>
#include <string_view>

namespace mqbridge::openmpi {

/// Open MPI calls jobs by numbers of 32 bits. ORTE's names of jobs are these numbers. PRRTE and
/// Slurm give names ("prterun-node-3675@2"), of which Open MPI 5 makes a number: 16 bits of a hash
/// of what is in front of the '@', and the number behind it (opal_pmix_convert_nspace).
///
/// The launcher's name of the job with the number `job`, seen from a process of the job `own`, a
/// launcher's name. Jobs of the same launcher are recognised; of others the number is returned.
std::string launchers_name(std::string_view job, std::string_view own);

} // namespace mqbridge::openmpi
