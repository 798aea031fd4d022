#pragma once

#include "host/process/stopped_process.h"
#include "host/stacks/capture.h"
#include "rsp/result.h"

namespace mqbridge {

/// Reads what the threads of a process do in Python, while it stands still; nothing where it runs
/// no Python. To be called after capture_stacks(), whose pages are not read again: sets `python` of
/// `captured`. Nothing of the process is run, and all of it may be damaged: what does not fit
/// together is left out, and a warning says so (python.unknown, python.damaged). Round trips: some
/// seven, and one for each page of further frames; of pages that an earlier dump has looked at
/// none. Errors: those of Memory.
Result<void> capture_python(StoppedProcess& process, CapturedStacks& captured);

} // namespace mqbridge
