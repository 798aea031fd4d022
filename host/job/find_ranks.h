#pragma once

#include "host/dump/workshop.h"
#include "host/job/job_search.h"

#include <stop_token>

namespace mqbridge {

/// Finds the ranks of the jobs that `request` names. It never fails as a whole: nodes and processes
/// that could not be looked at are in FoundJobs::faults. A launcher is stopped while its table is
/// read; no other process is.
FoundJobs find_ranks(const JobRequest& request, Workshop& workshop, std::stop_token stop);

} // namespace mqbridge
