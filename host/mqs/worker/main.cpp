// mqbridge-worker: loads one debug DLL, walks the queues of one process with it or asks it for
// handles, and ends. Started by run_worker() with a socket and a shared page
// (host/mqs/shared_state.h); of no use by hand.

#include "host/confined/confine.h"
#include "host/confined/descriptors.h"
#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/debug_dll.h"
#include "host/mqs/worker/handle_queries.h"
#include "host/mqs/worker/loading.h"
#include "host/mqs/worker/walk_queues.h"

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

/// Loads the DLL where `start` wants it, or says why not.
std::optional<WalkFailure> load(DebugDll& dll, const wire::StartMessage& start,
                                const Filters& filters, Channel& channel, pid_t parent) {
  sandbox::set_limits({start.address_space, start.own_memory, start.cpu_seconds});
  if (start.sandboxed)
    return load_confined(dll, start, filters, channel, parent);
  sandbox::start_no_more();
  return dll.load(start);
}

/// Asks the DLL, unless it could not be loaded, and says how that ended.
template <class Work>
void perform(Work work, Host& host, std::optional<WalkFailure> failure) {
  if (!failure)
    failure = work.run();
  host.outbox.flush();
  wire::Encoder last;
  if (failure)
    last.put(wire::Kind::failure).put(failure->kind).text(failure->text);
  else
    last.put(wire::Kind::done);
  host.channel.send(last.message());
  work.destroy();
}

int run(wire::SharedState& shared, pid_t parent) {
  Channel channel(sandbox::child_socket);
  sandbox::confine(sandbox::child_shared_memory); // that is mapped, and closed
  sandbox::report_refused_calls(shared.refused_call);
  const Filters filters;
  wire::StartMessage start;
  FileDescriptor store;
  if (!start.decode(channel.receive(store)))
    return 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // a DLL that crashes keeps no words to itself
  Outbox outbox(channel, shared);
  Host host{channel, outbox, shared, start};
  host.pages.attach(std::move(store));
  serve(host);

  DebugDll dll(shared);
  auto failure = load(dll, start, filters, channel, parent);
  if (start.handles)
    perform(HandleQueries(dll, host), host, std::move(failure));
  else
    perform(QueueWalk(dll, host), host, std::move(failure));
  std::fflush(nullptr);
  return 0;
}

} // namespace
} // namespace mqbridge::worker

int main(int argc, char** argv) {
  using namespace mqbridge;
  const pid_t parent = argc == 2 ? std::atoi(argv[1]) : 0;
  // A caller that names no parent is none of ours.
  if (parent == 0 || !sandbox::die_with_parent(parent))
    ::_exit(1);
  auto* shared = worker::map_shared_state();
  // _exit: the DLL's destructors have nothing to give.
  ::_exit(shared != nullptr ? worker::run(*shared, parent) : 1);
}
