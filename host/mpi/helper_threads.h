#pragma once

#include "host/stacks/stack.h"

namespace mqbridge {

/// Whether the MPI, its run-time system or its network library started this thread for itself;
/// asked for threads other than the process's first. The function in which the thread began tells;
/// false if the stack does not reach that function.
bool is_helper(const ThreadStack& stack);

} // namespace mqbridge
