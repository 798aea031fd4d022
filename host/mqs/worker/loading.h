#pragma once

#include "host/confined/filter.h"
#include "host/mqs/worker/channel.h"
#include "host/mqs/worker/debug_dll.h"

#include <optional>
#include <sys/types.h>

namespace mqbridge::worker {

/// The two filters: for the loader, and for this process. They are compiled before anybody waits
/// for them.
struct CallFilters {
  sandbox::Filter loading = sandbox::Filter::compile(sandbox::Rules::loading);
  sandbox::Filter computing = sandbox::Filter::compile(sandbox::Rules::computing);
};

/// Confines this process, and lets another one, the loader, load the DLL into its memory
/// (host/confined/twin.h). By then this process has the stricter filter: no constructor of the DLL
/// can weaken it, or leave a descriptor behind. Returns when the parent has seen the loader end.
/// nullopt: the DLL is loaded; else why not. `parent`: the parent's pid.
std::optional<WalkFailure> load_confined(DebugDll& dll, const wire::StartMessage& start,
                                         const CallFilters& filters, Channel& channel,
                                         pid_t parent);

} // namespace mqbridge::worker
