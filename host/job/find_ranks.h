#pragma once

#include "host/dump/workshop.h"
#include "host/job/findings.h"
#include "host/job/job_request.h"

#include <stop_token>

namespace mqbridge {

/// Finds the ranks of the jobs that `request` means. Never fails as a whole: what could not be
/// looked at stands in Findings::faults. A launcher is stopped for as long as its table is read;
/// nothing else is.
Findings find_ranks(const JobRequest& request, Workshop& workshop, std::stop_token stop);

} // namespace mqbridge
