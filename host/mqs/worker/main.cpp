// mqbridge-worker: loads one debug DLL, walks the queues of one process with it, and ends. Started
// by walk_queues() with a socket and a shared page (host/mqs/shared_state.h); of no use by hand.

#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/debug_dll.h"
#include "host/mqs/worker/walk_queues.h"
#include "host/sandbox/confine.h"
#include "host/sandbox/descriptors.h"
#include "host/sandbox/filter.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::worker {
namespace {

wire::SharedState* map_shared_state() {
  void* page = ::mmap(nullptr, sizeof(wire::SharedState), PROT_READ | PROT_WRITE, MAP_SHARED,
                      sandbox::child_shared_memory, 0);
  ::close(sandbox::child_shared_memory);
  return page == MAP_FAILED ? nullptr : static_cast<wire::SharedState*>(page);
}

/// What forbids a DLL's constructors most, and then the DLL what its constructors still may. Made
/// while nobody waits for it.
struct Filters {
  sandbox::Filter loading = sandbox::Filter::compile(sandbox::Rules::loading);
  sandbox::Filter computing = sandbox::Filter::compile(sandbox::Rules::computing);
};

std::optional<WalkFailure> apply(const sandbox::Filter& filter) {
  if (auto why = filter.apply())
    return WalkFailure{wire::FailureKind::sandbox, std::move(*why)};
  return std::nullopt;
}

/// Loads the DLL where `start` wants it, or says why not.
std::optional<WalkFailure> load(DebugDll& dll, const wire::StartMessage& start,
                                const Filters& filters) {
  sandbox::set_limits({start.address_space, start.own_memory, start.cpu_seconds});
  if (!start.sandboxed)
    return dll.load(start);
  sandbox::keep_to_own_memory();
  if (auto failure = apply(filters.loading))
    return failure;
  if (auto failure = dll.load(start))
    return failure;
  return apply(filters.computing);
}

int run(wire::SharedState& shared) {
  Channel channel(sandbox::child_socket);
  sandbox::confine(sandbox::child_shared_memory); // that is mapped, and closed
  sandbox::report_refused_calls(shared.refused_call);
  const Filters filters;
  wire::StartMessage start;
  int store = -1;
  if (!start.decode(channel.receive_start(store)))
    return 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // a DLL that crashes keeps no words to itself
  Outbox outbox(channel, shared);
  Host host{channel, outbox, shared, start};
  if (store >= 0)
    host.pages.attach(store);
  serve(host);

  DebugDll dll(shared);
  auto failure = load(dll, start, filters);
  QueueWalk walk(dll, host);
  if (!failure)
    failure = walk.run();
  outbox.flush();
  wire::Encoder last;
  if (failure)
    last.put(wire::Kind::failure).put(failure->kind).text(failure->text);
  else
    last.put(wire::Kind::done);
  channel.send(last.message());
  walk.destroy();
  std::fflush(nullptr);
  return 0;
}

} // namespace
} // namespace mqbridge::worker

int main(int argc, char** argv) {
  using namespace mqbridge;
  // A caller that names no parent is none of ours.
  if (argc != 2 || !sandbox::die_with_parent(std::atoi(argv[1])))
    ::_exit(1);
  auto* shared = worker::map_shared_state();
  // _exit: the DLL's destructors have nothing to give.
  ::_exit(shared != nullptr ? worker::run(*shared) : 1);
}
