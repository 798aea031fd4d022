#pragma once

#include "host/dump/document.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Names the communicators C1, C2, ..., the same one alike on all ranks, and different ones
/// differently: of one whose members are not known each rank has a key of its own. `job_of`: a
/// number of each rank's job, the same for ranks of the same one. Members are named as job_id names
/// their jobs.
void name_communicators(Dump& dump, const std::vector<std::size_t>& job_of);
/// The same of a document whose jobs are told apart: by job_id. Those without one are of one job;
/// `joined`: they may be of as many as there were documents, and then those with joints are of no
/// job together.
void name_communicators(Dump& dump, bool joined = false);

} // namespace mqbridge
