#pragma once

#include "host/doctor/checklist.h"
#include "host/dump/take_dump.h"

#include <stop_token>

namespace mqbridge {

/// Goes through the steps of a dump of one target, up to a walk of its queues, and says of each
/// what works, what limits and what fails, with the line that mends it. The target runs on
/// afterwards.
Checklist examine(const TargetSpec& target, const DumpOptions& options, std::stop_token stop);

} // namespace mqbridge
