#pragma once

#include "host/dump/values/document.h"
#include "host/stacks/stack_tree.h"

#include <string>
#include <vector>

namespace mqbridge {

/// The calls of a thread as `mqbridge stacks` prints them, outermost first. If the stack does not
/// reach the thread's beginning, the first call says why.
///
/// Unless `full`, calls outside of main are left out, and so are those with which the C library
/// starts a thread, and those inside the call that `blocked` names (nullptr: not known). Recursion
/// and the middle of very many calls are folded: one call says so.
std::vector<TreeCall> stack_calls(const ThreadStack& stack, const BlockedCall* blocked, bool full);

/// Of a thread of `rank`.
std::vector<TreeCall> stack_calls(const RankDump& rank, const ThreadStack& stack, bool full);

/// Why the rank has no stack of another thread than the MPI's helpers; empty where it has one.
std::string why_no_stack(const RankDump& rank);

} // namespace mqbridge
