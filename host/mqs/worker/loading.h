#pragma once

#include "host/confined/filter.h"
#include "host/mqs/worker/channel.h"
#include "host/mqs/worker/debug_dll.h"

#include <optional>
#include <sys/types.h>

namespace mqbridge::worker {

/// What forbids the loader most, and what it leaves to the worker. Made while nobody waits for it.
struct Filters {
  sandbox::Filter loading = sandbox::Filter::compile(sandbox::Rules::loading);
  sandbox::Filter computing = sandbox::Filter::compile(sandbox::Rules::computing);
};

/// Confines this process, and has the DLL loaded into its memory by another one, the loader
/// (sandbox/twin.h). By then this process has the stricter filter: no constructor of the DLL can
/// weaken that, or leave a descriptor behind. Returns when the parent has seen the loader end.
/// nullopt: the DLL is loaded; else why not. `parent`: its pid.
std::optional<WalkFailure> load_confined(DebugDll& dll, const wire::StartMessage& start,
                                         const Filters& filters, Channel& channel, pid_t parent);

} // namespace mqbridge::worker
