// mqbridge-worker: loads one debug DLL, walks the queues of one process with it, and ends. Started
// by walk_queues() with a socket and a shared page (host/mqs/shared_state.h); of no use by hand.

#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/confinement.h"
#include "host/mqs/worker/debug_dll.h"
#include "host/mqs/worker/walk_queues.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace mqbridge::worker {
namespace {

wire::SharedState* map_shared_state() {
  void* page = ::mmap(nullptr, sizeof(wire::SharedState), PROT_READ | PROT_WRITE, MAP_SHARED,
                      wire::worker_shared_state, 0);
  ::close(wire::worker_shared_state);
  return page == MAP_FAILED ? nullptr : static_cast<wire::SharedState*>(page);
}

int run(wire::SharedState& shared) {
  Channel channel(wire::worker_socket);
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

  confine(start);
  DebugDll dll(shared);
  auto failure = dll.load(start.dll);
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

int main() {
  auto* shared = mqbridge::worker::map_shared_state();
  // _exit: the DLL's destructors have nothing to give.
  ::_exit(shared != nullptr ? mqbridge::worker::run(*shared) : 1);
}
