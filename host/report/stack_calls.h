#pragma once

#include "host/stacks/stack.h"
#include "host/stacks/stack_tree.h"

#include <vector>

namespace mqbridge {

/// The calls of a thread as `mqbridge stacks` prints them, outermost first. Where the stack does
/// not go on to where the thread began, the first one says why.
///
/// Unless `full`: what stands outside of main, and what the C library starts a thread with, is left
/// out; so is what the MPI does inside of the call that `blocked` names (nullptr: not known).
/// Recursion and the middle of very many calls are folded: one call says so.
std::vector<TreeCall> stack_calls(const ThreadStack& stack, const BlockedCall* blocked, bool full);

} // namespace mqbridge
