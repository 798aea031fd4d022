#pragma once

#include "host/analysis/job_picture.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// All processes that MPI_Finalize of this job waits for: those of the job, and of all jobs that it
/// shares a communicator with, in any number of steps. One that is in no document stands for all
/// that are in none.
std::vector<Partner> connected_processes(const JobPicture& picture, std::size_t job);

} // namespace mqbridge
