#pragma once

#include "tests/e2e/harness/call_case.h"
#include "tests/e2e/harness/mpi_job.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

enum class Threads { single, multiple }; ///< that the job asks MPI for

/// Goes through calls in one job of so many ranks, dumps it inside of each of them, and expects
/// what inside_differences() and message_differences() say; and that the job comes to its end.
void expect_calls(int ranks, const std::vector<CallCase>& cases, Threads threads = Threads::single);

/// Goes through a schedule (tests/e2e/harness/traffic.h) of so many steps in one job, and expects
/// what traffic_differences() says. `schedule`: a file.
void expect_traffic(const JobSpec& spec, int steps);
JobSpec traffic_job(int ranks, const std::filesystem::path& schedule);

} // namespace mqbridge::e2e
