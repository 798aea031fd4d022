#pragma once

#include "host/mqs/handles.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// What is asked of the handles of one stopped process. References outlive the call.
struct HandleRequest : WorkerRequest {
  HandleQuestion question; ///< at most wire::max_asked_handles
};

struct HandleResult : WorkerOutcome {
  ProcessHandles handles; ///< `dll` and `dll_version` among them
};

/// Starts a fresh worker, loads the DLL there, and asks it by the functions of
/// dll/mpidbg_interface.h. Never throws, never hangs. What the DLL says is checked: counts, ranks
/// and texts that nothing has are not known. Each handle of the question has an answer or stands
/// among `refused`; with a request comes its communicator. Of lists, those of which not all is
/// known stand in `unlisted` or `incomplete`, also after a failure. Call it on the thread that
/// reads the process's memory. Failure codes: those of walk_queues() but walk.max_operations, with
/// dll.no_handles for dll.no_queues.
HandleResult ask_handles(const HandleRequest& request);

} // namespace mqbridge
