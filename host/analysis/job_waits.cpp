#include "host/analysis/job_waits.h"

#include "host/analysis/wait_words.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// A one-sided call waits for other processes of the MPI, and for nothing else.
bool is_one_sided(const BlockedCall& call) {
  return call.call &&
         (call.call->starts_with("MPI_Win_") || call.call->starts_with("MPI_Get") ||
          call.call->starts_with("MPI_Put") || call.call->starts_with("MPI_Acc") ||
          call.call->starts_with("MPI_Fetch") || call.call->starts_with("MPI_Compare"));
}

bool is_idle(const RankDump& rank, const BlockedCall& call) {
  return call.system_call || is_asleep(rank, call);
}

/// Whether the thread sleeps in this look, or did in the look before: a loop that looks at
/// something now and then computes for a moment, too.
bool sleeps(const Process& process, const BlockedCall& call) {
  if (is_idle(*process.now, call))
    return true;
  if (process.before == nullptr || !process.before->blocked_in)
    return false;
  return std::ranges::any_of(*process.before->blocked_in, [&](const BlockedCall& before) {
    return before.thread == call.thread && is_idle(*process.before, before);
  });
}

std::string outside_words(const BlockedCall& call) {
  return "what it waits for outside of MPI: " + whereabouts(call);
}

} // namespace

std::vector<WaitNode> JobWaits::add_nodes(WaitGraph& graph, std::size_t count) {
  std::vector<WaitNode> nodes;
  for (std::size_t i = 0; i < count; ++i)
    nodes.push_back(graph.add(WaitGraph::Mode::all));
  return nodes;
}

JobWaits::JobWaits(const JobPicture& picture)
    : picture_(picture), channels_(picture), nodes_(add_nodes(graph_, picture.processes().size())),
      requests_(picture, channels_, graph_, nodes_), calls_(picture, requests_, graph_),
      waits_(picture.processes().size()) {
  const auto gone_on = channels_.gone_on();
  for (std::size_t process = 0; process < waits_.size(); ++process)
    add_waits(process, gone_on[process]);
  help_waits_for_anybody();
  graph_.close();
}

void JobWaits::add_waits(std::size_t process, bool gone_on) {
  const Process& it = picture_.process(process);
  ProcessWaits& waits = waits_[process];
  if (it.presence == Presence::exited || it.presence == Presence::finalized)
    return; // it waits for nobody
  if (it.presence == Presence::unread) {
    waits.unknown = "it could not be read";
    return graph_.wait_for(nodes_[process], WaitGraph::unknown);
  }
  waits.threads = threads_of(*it.now);
  waits.calls = calls_.of(process, waits.threads);
  for (CallWait& call : waits.calls)
    if (call.by_anybody ||
        (call.call != nullptr && !call.unknown.empty() && is_one_sided(*call.call))) {
      call.node = graph_.add(WaitGraph::Mode::any);
      graph_.wait_for(call.node, WaitGraph::unknown);
      if (call.asleep != nullptr)
        graph_.wait_for(call.node, WaitGraph::idle);
      for_anybody_.emplace_back(process, call.node);
    }
  wait_as_threads(process, nodes_[process], waits);
  for (const CallWait& call : waits.calls) {
    if (!call.unknown.empty())
      waits.unknown = call.unknown;
    if (call.asleep != nullptr)
      waits.idle.push_back(call.asleep);
  }
  if (!gone_on)
    return;
  graph_.set_mode(nodes_[process], WaitGraph::Mode::any);
  graph_.wait_for(nodes_[process], WaitGraph::satisfied);
}

/// One blocked call blocks a process, unless several threads may call MPI at once: then each of its
/// threads may still do what others wait for.
void JobWaits::wait_as_threads(std::size_t process, WaitNode node, ProcessWaits& waits) {
  const bool many = is_multi_threaded(*picture_.process(process).now, waits.threads);
  const bool in_mpi = !waits.calls.empty();
  graph_.set_mode(node, in_mpi && !many ? WaitGraph::Mode::all : WaitGraph::Mode::any);
  for (const CallWait& call : waits.calls)
    graph_.wait_for(node, call.node);
  if (in_mpi && !many)
    return;
  for (const ThreadView& thread : waits.threads)
    if (thread.state != ThreadState::in_call && !(in_mpi && thread.call == nullptr && !many))
      graph_.wait_for(node, outside_of_mpi(process, thread, waits));
}

WaitNode JobWaits::outside_of_mpi(std::size_t process, const ThreadView& thread,
                                  ProcessWaits& waits) {
  switch (thread.state) {
  case ThreadState::in_call:
    return WaitGraph::satisfied;
  case ThreadState::running:
    if (waits.calls.empty() || thread.call == nullptr || thread.call->call)
      return WaitGraph::satisfied;
    // Beside threads in MPI this thread may help others, or not.
    if (!sleeps(picture_.process(process), *thread.call))
      return WaitGraph::doubtful;
    waits.idle.push_back(thread.call);
    return WaitGraph::idle;
  case ThreadState::in_lock:
    // Beside threads in MPI it waits for one of them; it may also wait for another process.
    if (waits.calls.empty())
      break;
    return graph_.either(nodes_[process], WaitGraph::unproven);
  case ThreadState::waiting:
    break;
  case ThreadState::unknown:
    waits.unknown = "what one of its threads does: its stack does not tell";
    return WaitGraph::unknown;
  }
  waits.unknown = outside_words(*thread.call);
  return WaitGraph::unknown;
}

/// Nothing shows which process a one-sided call or a polling loop waits for. But where all others
/// go on, it goes on, too. A process that has ended does not.
void JobWaits::help_waits_for_anybody() {
  constexpr std::size_t most_edges = 1'000'000;
  if (for_anybody_.size() * waits_.size() > most_edges)
    return;
  for (const auto& [process, node] : for_anybody_) {
    const WaitNode others = graph_.add(WaitGraph::Mode::all);
    for (std::size_t other = 0; other < waits_.size(); ++other)
      if (other != process && picture_.process(other).job == picture_.process(process).job)
        graph_.wait_for(others, requests_.does_no_more(other) ? WaitGraph::unknown : nodes_[other]);
    graph_.wait_for(node, others);
  }
}

} // namespace mqbridge
