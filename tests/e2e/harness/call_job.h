#pragma once

#include "tests/e2e/harness/call_case.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/traffic.h"

#include <vector>

namespace mqbridge::e2e {

enum class Threads { single, multiple }; ///< that the job asks MPI for

/// Goes through calls in one job of mpi_calls, dumps it inside of each of them, and expects
/// what call_differences() and site_differences() say; and that the job comes to its end.
/// `job`: but for its arguments. `options`: of the dump.
void expect_calls(JobSpec job, const std::vector<CallCase>& cases,
                  Threads threads = Threads::single, const std::vector<std::string>& options = {});

/// The same, where calls need not say what they wait for: what site_differences() says alone.
void expect_call_sites(JobSpec job, const std::vector<CallCase>& cases,
                       Threads threads = Threads::single);

/// The same in a recorded job, which knows more: every call that waits for messages says so of
/// them, and a message that a call still sends is one that its receiver has not received.
void expect_recorded_calls(JobSpec job, const std::vector<CallCase>& cases);

/// Of blocking collectives in a recorded job: what site_differences() says, and that those who are
/// inside say the same of which one it is on its communicator.
void expect_recorded_collectives(JobSpec job, const std::vector<CallCase>& cases);

/// Goes through these steps in one job of mpi_traffic, and expects
/// what traffic_differences() says of each.
/// `job`: but for its arguments.
void expect_traffic(JobSpec job, const std::vector<TrafficStep>& steps);

} // namespace mqbridge::e2e
