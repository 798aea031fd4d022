#include "host/analysis/call_waits_of_process.h"
#include "host/analysis/job_picture.h"
#include "host/dump/values/times.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

// Without queues nobody sees whether a message is on its way. What stands for that: the MPI has
// ended no wait between two looks, the program stands where it stood, and what the call moves is so
// little that it would have come.

namespace mqbridge {
namespace {

constexpr std::string_view world = "MPI_COMM_WORLD";
/// More than that may be on its way for as long as the time between two looks.
constexpr std::int64_t soon_there = std::int64_t{16} << 20;

/// Whether each member sends the bytes to each other one.
bool moves_for_each(std::string_view call) {
  constexpr auto calls = std::to_array<std::string_view>(
      {"MPI_Gather", "MPI_Allgather", "MPI_Scatter", "MPI_Alltoall", "MPI_Reduce_scatter_block"});
  return std::ranges::find(calls, call) != calls.end();
}

/// Whether so much time has passed between the looks that the process has had a CPU, whatever else
/// runs on its computer.
bool long_enough(const RankDump& before, const RankDump& now) {
  constexpr double shortest_ms = 1000;
  const auto from = before.stopped_at ? parse_rfc3339(*before.stopped_at) : std::nullopt;
  const auto to = now.stopped_at ? parse_rfc3339(*now.stopped_at) : std::nullopt;
  return from && to && milliseconds(*to - *from) >= shortest_ms;
}

bool is_in(const RankDump& rank, std::string_view call) {
  return rank.blocked_in && std::ranges::any_of(*rank.blocked_in, [&](const BlockedCall& each) {
           return each.call == call && each.arguments && each.arguments->communicator == world;
         });
}

} // namespace

const CallWaits::Absent& CallWaits::others_in_world(std::size_t job, const std::string& call,
                                                    WaitGraph::Mode mode) {
  const auto [known, is_new] = in_world_.try_emplace({job, call});
  Absent& absent = known->second;
  if (!is_new)
    return absent;
  absent.node = graph_.add(mode);
  std::vector<Partner> members;
  for (std::int64_t rank = 0; rank < picture_.sizes()[job].value_or(0); ++rank) {
    const Partner member = picture_.in_world(job, rank);
    if (member.process && is_in(*picture_.process(*member.process).now, call))
      continue;
    graph_.wait_for(absent.node, requests_.node_unless_gone(member));
    members.push_back(member);
  }
  absent.members = PartnerList(std::move(members));
  return absent;
}

bool CallWaits::OfProcess::wait_by_arguments(CallWait& wait, CallKind kind) {
  const auto& arguments = wait.call->arguments;
  if (!arguments || arguments->communicator != world || wait.call->group ||
      !has_no_queue(*process_.now) || all_.picture_.filtered() ||
      !all_.picture_.sizes()[process_.job])
    return false;
  const WaitNode node = node_of_arguments(wait, kind);
  if (node == WaitGraph::unknown) {
    wait.members = {};
    return false;
  }
  wait.node = node;
  wait.by_arguments = true;
  return true;
}

WaitNode CallWaits::OfProcess::node_of_arguments(CallWait& wait, CallKind kind) {
  const BlockedCall& call = *wait.call;
  const CallArguments& arguments = *call.arguments;
  WaitGraph& graph = all_.graph_;
  switch (kind) {
  case CallKind::receive:
  case CallKind::probe:
  case CallKind::mprobe:
    return other_in_world(wait, arguments.peer, arguments.any_source, on_its_way(call, true));
  case CallKind::send: {
    const SendKind send = kind_of_send(*call.call);
    if (send == SendKind::buffered)
      return WaitGraph::unknown;
    return other_in_world(wait, arguments.peer, false,
                          on_its_way(call, send == SendKind::synchronous));
  }
  case CallKind::exchange: {
    const WaitNode perhaps = on_its_way(call, false);
    const WaitNode receive = other_in_world(wait, arguments.peer, arguments.any_source, perhaps);
    const WaitNode send = other_in_world(wait, arguments.send_to, false, perhaps);
    if (receive == WaitGraph::unknown || send == WaitGraph::unknown)
      return WaitGraph::unknown;
    // One of both may be complete.
    if (receive == WaitGraph::satisfied || send == WaitGraph::satisfied)
      return graph.both(receive, send);
    return graph.both(graph.either(receive, send),
                      graph.either(graph.both(receive, send), WaitGraph::unknown));
  }
  case CallKind::collective: {
    const bool everybody = dependence_of(*call.call) == CollectiveKind::everybody;
    const Absent& absent = all_.others_in_world(process_.job, *call.call, WaitGraph::Mode::all);
    if (absent.members.size() == 0)
      return WaitGraph::unknown; // nobody sees what goes on inside
    // A member may have left other collectives before all have entered: then another one is late.
    const Absent& others =
        everybody ? absent : all_.others_in_world(process_.job, "", WaitGraph::Mode::any);
    wait.mode = everybody ? WaitGraph::Mode::all : WaitGraph::Mode::any;
    wait.members = others.members;
    return graph.either(others.node, on_its_way(call, everybody));
  }
  default:
    return WaitGraph::unknown;
  }
}

WaitNode CallWaits::OfProcess::other_in_world(CallWait& wait, std::optional<std::int64_t> rank,
                                              bool any, WaitNode perhaps) {
  if (any) {
    const Absent& others = all_.others_in_world(process_.job, "", WaitGraph::Mode::any);
    wait.mode = WaitGraph::Mode::any;
    wait.members = others.members;
    return all_.graph_.either(others.node, perhaps);
  }
  if (!rank || *rank >= *all_.picture_.sizes()[process_.job])
    return WaitGraph::unknown;
  if (*rank == proc_null)
    return WaitGraph::satisfied;
  const Partner partner = all_.picture_.in_world(process_.job, *rank);
  std::vector<Partner> members(wait.members.begin(), wait.members.end());
  members.push_back(partner);
  wait.members = PartnerList(std::move(members));
  const WaitNode node = partner.process == index_ ? all_.requests_.node_for(index_, partner)
                                                  : all_.requests_.node_unless_gone(partner);
  return all_.graph_.either(node, perhaps);
}

WaitNode CallWaits::OfProcess::on_its_way(const BlockedCall& call, bool blocks) const {
  const RankDump* before = process_.before;
  if (before == nullptr || process_.now->process_state == "T" || before->process_state == "T" ||
      !process_.now->mpi || !process_.now->mpi->waits_state || !call.program_state)
    return WaitGraph::unknown;
  // Several threads pass the library's locks on, which are variables of it, too.
  if (!stands_still(process_, call))
    return is_multi_threaded(*process_.now, threads_) ? WaitGraph::unknown : WaitGraph::doubtful;
  if (!long_enough(*before, *process_.now))
    return WaitGraph::unknown;
  const auto& bytes = call.arguments->bytes;
  const auto size = *all_.picture_.sizes()[process_.job];
  if (!bytes || *bytes > soon_there / (moves_for_each(*call.call) ? size : 1))
    return WaitGraph::unknown;
  return blocks && process_.now->mpi->waits_counted == true ? WaitGraph::unproven
                                                            : WaitGraph::guessed;
}

} // namespace mqbridge
