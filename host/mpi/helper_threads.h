#pragma once

#include "host/stacks/stack.h"

namespace mqbridge {

/// Whether a thread that is not the process's first one was started by the MPI, its run-time system
/// or its network library for themselves: by where it began. Of a stack that does not go on to
/// there it is not known, and false.
bool is_helper(const ThreadStack& stack);

} // namespace mqbridge
