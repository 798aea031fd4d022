#pragma once

#include "rsp/commands/run_until.h"
#include "rsp/result.h"

#include <optional>
#include <string>

namespace mqbridge {

/// What is worth telling of a run to a signal: which one it was where any would do, and which ones
/// the target got before (warning run.stopped). Nullopt: it went as asked.
std::optional<Error> describe_run(const rsp::RunReport& run, const rsp::RunUntil& until);

/// A process that a stub started and nobody let run has no queues yet: if `attachment` looks like
/// one and nothing let it run, the hint that goes with the error (one line).
std::optional<std::string> hint_at_entry(const rsp::Attachment& attachment);

} // namespace mqbridge
