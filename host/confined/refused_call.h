#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace mqbridge::sandbox {

/// A word in memory that parent and child share: the system call that a filter refused, plus 1; 0:
/// none. The child writes it, so the parent uses it in messages only.
using RefusedCall = std::atomic<std::uint32_t>;
static_assert(RefusedCall::is_always_lock_free, "shared between processes, written by a handler");

/// In the child: when a filter refuses a call, `word` names it, and SIGSYS ends the process. `word`
/// outlives the process.
void report_refused_calls(RefusedCall& word);

} // namespace mqbridge::sandbox
