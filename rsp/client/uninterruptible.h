#pragma once

#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

#include <optional>
#include <stop_token>

namespace mqbridge::rsp {

/// Before a gdbserver is started for local:PID, does nothing for any other endpoint. A thread that
/// sleeps where no signal reaches it (state D of /proc/PID/task/*/stat: the parent of a vfork()
/// child, a file server that does not answer) stops for no debugger: gdbserver would say nothing,
/// and keep the other threads stopped, until it wakes. Waits up to a second for such a thread.
/// Errors: attach.uninterruptible.
Result<void> await_interruptible(const Endpoint& endpoint, const std::stop_token& stop);

/// The same of a process that has fallen asleep since, whose gdbserver did not say a word.
std::optional<Error> explain_silence(const Endpoint& endpoint);

} // namespace mqbridge::rsp
