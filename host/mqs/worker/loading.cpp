#include "host/mqs/worker/loading.h"

#include "host/confined/confine.h"
#include "host/confined/twin.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>

namespace mqbridge::worker {
namespace {

WalkFailure not_confined(std::string why) {
  return {wire::FailureKind::sandbox, std::move(why)};
}

WalkFailure no_loader(int error) {
  const std::string why = std::string("clone: ") + std::strerror(error);
  const bool limited = error == EAGAIN || error == ENOMEM;
  return limited ? WalkFailure{wire::FailureKind::no_process, why} : not_confined(why);
}

/// The memory that worker and loader both see.
struct Loading {
  DebugDll& dll;
  const wire::StartMessage& start;
  const sandbox::Filter& filter;
  pid_t parent;
  sandbox::Gate confined = {};                       ///< the worker is confined, and waits
  std::optional<WalkFailure> failure = std::nullopt; ///< set before the gate opens: load nothing
};

int run_loader(void* of) {
  auto& loading = *static_cast<Loading*>(of);
  if (!sandbox::die_with_parent(loading.parent))
    ::_exit(1);
  sandbox::start_no_more();
  const bool is_confined = loading.filter.apply_quietly(); // while the worker does the same
  loading.confined.wait();
  if (loading.failure)
    ::_exit(wire::loader_done);
  if (is_confined)
    loading.failure = loading.dll.load(loading.start);
  else
    loading.failure = not_confined(loading.filter.apply().value_or("seccomp"));
  ::_exit(wire::loader_done);
}

} // namespace

std::optional<WalkFailure> load_confined(DebugDll& dll, const wire::StartMessage& start,
                                         const CallFilters& filters, Channel& channel,
                                         pid_t parent) {
  wire::LoadingMessage message;
  message.gap = sandbox::keep_to_own_memory().value_or("");
  Loading loading{dll, start, filters.loading, parent};
  message.loader = sandbox::start_twin(run_loader, &loading);
  if (message.loader < 0)
    return no_loader(errno);
  sandbox::start_no_more();
  // This is done even without a filter: the loader reads `loading` until it ends, and the parent
  // has to reap it.
  if (auto why = filters.computing.apply())
    loading.failure = not_confined(std::move(*why));
  channel.send(wire::encode(message));
  loading.confined.open();
  channel.await_walk();
  return std::move(loading.failure);
}

} // namespace mqbridge::worker
