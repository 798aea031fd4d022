#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Names the communicators C1, C2, ..., so that one communicator has the same name on all ranks,
/// and no two have the same. A communicator whose members are not known has a name of its own on
/// each rank. `job_of`: a number for each rank's job. Members get the job names of job_id.
void name_communicators(Dump& dump, const std::vector<std::size_t>& job_of);
/// The same for a document whose jobs are told apart by job_id. Ranks without one are of one job.
/// `joined`: they may be of as many jobs as there were documents; then ranks with joints are never
/// taken for one job.
void name_communicators(Dump& dump, bool joined = false);

} // namespace mqbridge
