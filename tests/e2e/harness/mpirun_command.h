#pragma once

#include "tests/e2e/harness/mpi_job.h"

#include <filesystem>

namespace mqbridge::e2e {

/// The command line and the environment of such a job, whose ranks write into `directory`.
test::ChildSpec mpirun_command(const JobSpec& spec, const std::filesystem::path& directory);

} // namespace mqbridge::e2e
