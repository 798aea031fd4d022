#pragma once

#include "host/mqs/handles.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// A question about the handles of one stopped process. References outlive the call.
struct HandleRequest : WorkerRequest {
  HandleQuestion question; ///< at most wire::max_asked_handles
};

struct HandleResult : WorkerOutcome {
  ProcessHandles handles; ///< `dll` and `dll_version` among them
};

/// Starts a fresh worker, loads the DLL there, and asks it by the functions of
/// dll/mpidbg_interface.h. Never throws, never hangs. The DLL's answers are checked: impossible
/// counts, ranks and texts count as not known. Each handle of the question has an answer or is in
/// `refused`; a request's communicator is answered with it. A list that is not known, or not
/// wholly, is named in `unlisted` or `incomplete`, also after a failure. Call it on the thread that
/// reads the process's memory. Failure codes: those of walk_queues() except walk.max_operations,
/// with dll.no_handles in the place of dll.no_queues.
HandleResult ask_handles(const HandleRequest& request);

} // namespace mqbridge
