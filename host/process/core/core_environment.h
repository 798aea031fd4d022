#pragma once

#include "host/process/core/core_memory.h"

#include <string>

namespace mqbridge {

/// The environment that the process was started with, as /proc/PID/environ would have it: from the
/// top of its stack, where the kernel (or QEMU) has put pointers and texts beside the auxiliary
/// vector. Empty: they are not there, or are no longer what they were.
std::string initial_environment(const CoreFile& core, Memory& memory);

} // namespace mqbridge
