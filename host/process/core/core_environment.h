#pragma once

#include "host/process/core/core_memory.h"

#include <string>

namespace mqbridge {

/// The environment with which the process was started, in the form of /proc/PID/environ. It is read
/// from the top of the stack, where the kernel (or QEMU) has put pointers and texts beside the
/// auxiliary vector. Empty: they are missing, or have been changed.
std::string initial_environment(const CoreFile& core, Memory& memory);

} // namespace mqbridge
