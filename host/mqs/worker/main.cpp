// mqbridge-worker loads one debug DLL, walks the queues of one process with it or asks it for
// handles, and ends. With a DLL of level 3 it does so for the processes of a job, one after the
// other. run_worker() starts it with a socket and a shared page (host/mqs/shared_state.h); it is of
// no use by hand.

#include "host/confined/confine.h"
#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/debug_dll.h"
#include "host/mqs/worker/handle_queries.h"
#include "host/mqs/worker/loading.h"
#include "host/mqs/worker/walk_queues.h"

#include <cstdio>
#include <cstdlib>
#include <list>
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

/// Loads the DLL from the place that `start` names, or says why not.
std::optional<WalkFailure> load(DebugDll& dll, const wire::StartMessage& start,
                                const CallFilters& filters, Channel& channel, pid_t parent) {
  sandbox::set_limits({start.address_space, start.own_memory, start.cpu_seconds});
  if (start.sandboxed)
    return load_confined(dll, start, filters, channel, parent);
  sandbox::start_no_more();
  return dll.load(start);
}

/// A process that the DLL is asked about, and the objects that the callbacks need for it.
struct AskedProcess {
  AskedProcess(Channel& channel, wire::SharedState& shared, wire::StartMessage of, Job& job)
      : start(std::move(of)), outbox(channel, shared), host{channel, outbox, shared, start, job} {
    shared.fetches = shared.fetch_bytes = shared.last_address = 0; // of another process
    shared.callback = 0;
    serve(host);
  }

  const wire::StartMessage start;
  Outbox outbox;
  Host host;
};

/// Says how the work ended. `waits`: the worker waits for the next process, which gets no line of
/// this one.
void conclude(Host& host, const std::optional<WalkFailure>& failure, bool waits) {
  if (waits)
    std::fflush(nullptr);
  host.outbox.flush();
  wire::Encoder last;
  if (failure)
    last.put(wire::Kind::failure).put(failure->kind).text(failure->text);
  else
    last.put(wire::Kind::done);
  host.channel.send(last.put(waits));
}

/// Walks the queues of `first`, unless the DLL could not be loaded. Then it walks each process of
/// its job that the parent names: a DLL of level 3 keeps its infos that long.
void walk_processes(DebugDll& dll, Host& first, std::optional<WalkFailure> failure) {
  std::list<AskedProcess> others;
  for (Host* host = &first;;) {
    if (!failure)
      failure = QueueWalk(dll, *host).run();
    const bool waits = host->job.goes_on;
    host->pages.detach();
    conclude(*host, failure, waits);
    auto next = waits ? wire::decode<wire::StartMessage>(host->channel.receive()) : std::nullopt;
    if (!next) {
      destroy_infos(dll, first.job);
      return;
    }
    failure.reset();
    host = &others.emplace_back(first.channel, first.shared, std::move(*next), first.job).host;
  }
}

void ask_for_handles(DebugDll& dll, Host& host, std::optional<WalkFailure> failure) {
  HandleQueries queries(dll, host);
  if (!failure)
    failure = queries.run();
  conclude(host, failure, false);
  host.job.is_over = true;
  queries.destroy();
}

int run(wire::SharedState& shared, pid_t parent) {
  Channel channel(sandbox::child_socket);
  sandbox::confine(sandbox::child_shared_memory); // that is mapped, and closed
  sandbox::report_refused_calls(shared.refused_call);
  const CallFilters filters;
  FileDescriptor store;
  auto start = wire::decode<wire::StartMessage>(channel.receive(store));
  if (!start)
    return 1;
  std::setvbuf(stdout, nullptr, _IOLBF,
               0); // so that a DLL that crashes leaves no printed text in a buffer
  Job job;
  AskedProcess process(channel, shared, std::move(*start), job);
  process.host.pages.attach(std::move(store));

  DebugDll dll(shared);
  auto failure = load(dll, process.start, filters, channel, parent);
  if (process.start.handles)
    ask_for_handles(dll, process.host, std::move(failure));
  else
    walk_processes(dll, process.host, std::move(failure));
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
  // _exit: nothing in the DLL's destructors is needed.
  ::_exit(shared != nullptr ? worker::run(*shared, parent) : 1);
}
