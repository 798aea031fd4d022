#pragma once

#include "tests/e2e/harness/mpi_job.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// For MQBRIDGE_SKIP_IF_LACKING, of jobs of Debian 13.
std::string lacking_debian13();

/// Whether all jobs of Open MPI are to be of that release (ctest's entries "OpenMpi5...").
bool openmpi5_is_asked_for();

/// The same job with the files of Debian 13 as its root, started by `launcher` (up to its options).
/// `root`: an empty directory.
JobSpec in_debian13(JobSpec spec, const std::filesystem::path& root,
                    std::vector<std::string> launcher);

/// The same job under the Open MPI 5 of Debian 13. `root`: an empty directory.
JobSpec under_openmpi5(JobSpec spec, const std::filesystem::path& root);

} // namespace mqbridge::e2e
