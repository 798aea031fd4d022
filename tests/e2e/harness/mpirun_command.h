#pragma once

#include "tests/e2e/harness/mpi_job.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// The command line and the environment of such a job, whose ranks write into `directory`.
test::ChildSpec mpirun_command(const JobSpec& spec, const std::filesystem::path& directory);

/// mpirun's options for what carries messages.
std::vector<std::string> transport_options(const JobSpec& spec);

} // namespace mqbridge::e2e
