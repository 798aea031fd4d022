#pragma once

#include "host/doctor/checklist.h"
#include "host/dump/workshop.h"

#include <stop_token>

namespace mqbridge {

/// Goes through the steps of a dump of one target, up to a walk of its queues. For each step it
/// says what works, what limits and what fails, with the command that mends it. The target runs on
/// afterwards.
Checklist examine(const TargetSpec& target, Workshop& workshop, std::stop_token stop);

/// The same with tools that others use at the same time.
Checklist examine(const TargetSpec& target, const SharedTools& tools, std::stop_token stop);

} // namespace mqbridge
