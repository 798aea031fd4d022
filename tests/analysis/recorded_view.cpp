#include "tests/analysis/recorded_view.h"

#include "tests/analysis/simulator.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mqbridge::sim {
namespace {

using Kind = Request::Kind;
using Where = RankState::Where;

constexpr int tag_before = 99; ///< of what was sent before the program began

SharedText text(std::string_view words) {
  return std::make_shared<const std::string>(words);
}

bool is_own(const Request& request, int rank, char comm) {
  return request.owner == rank && request.comm == comm && request.collective == Request::none;
}

} // namespace

std::int64_t RecordedView::local(char comm, int rank) const {
  const auto group = members(comm, rank_, world_.size());
  return std::ranges::find(group, rank) - group.begin();
}

/// Each call is another one.
std::uint32_t RecordedView::waits_for() const {
  return static_cast<std::uint32_t>(world_.rank(rank_).at) + 1;
}

bool RecordedView::is_waited_for(int request) const {
  if (world_.rank(rank_).where != Where::in_call)
    return false;
  const auto requests = wait_of(world_, rank_).requests;
  return std::ranges::find(requests, request) != requests.end();
}

bool RecordedView::is_waited_for_collective(int collective) const {
  if (world_.rank(rank_).where != Where::in_call)
    return false;
  const auto collectives = wait_of(world_, rank_).collectives;
  return std::ranges::find(collectives, collective) != collectives.end();
}

Waited RecordedView::waited() const {
  const CallWait wait = wait_of(world_, rank_);
  const auto count = wait.requests.size() + wait.collectives.size();
  Waited shown;
  shown.group = waits_for();
  shown.count = (wait.all ? static_cast<std::uint32_t>(count) : 1U) & Waited::unknown_count;
  shown.mode = wait.all ? WaitMode::all : WaitMode::any;
  return shown;
}

Operation RecordedView::operation(int number, std::uint32_t sequence) const {
  const Request& request = world_.request(number);
  const auto& call = world_.rank(rank_).requests;
  const bool blocking = std::ranges::find(call, number) != call.end();
  Operation shown;
  if (request.peer == any)
    shown.peer.any = true;
  else
    shown.peer = {false, local(request.comm, request.peer), request.peer};
  const bool any_tag = request.kind != Kind::send && request.tag == Request::any_tag;
  shown.tag = any_tag ? Tag{true, {}} : Tag{false, request.tag};
  shown.length = {request.length, LengthUnit::bytes};
  shown.sequence = sequence;
  shown.kind = request.kind == Kind::send    ? OpKind::send
               : request.kind == Kind::probe ? OpKind::probe
                                             : OpKind::receive;
  const bool synchronous = request.rendezvous && request.length == small_bytes;
  shown.call = text(request.kind != Kind::send ? (blocking ? "MPI_Recv" : "MPI_Irecv")
                    : synchronous              ? (blocking ? "MPI_Ssend" : "MPI_Issend")
                                               : (blocking ? "MPI_Send" : "MPI_Isend"));
  if (request.known)
    shown.status = OpStatus::complete; // the ring has it
  else if (!blocking)
    shown.request = address_of(number);
  if (is_waited_for(number))
    shown.waited = waited();
  return shown;
}

RecordedCommunicator RecordedView::recorded(char comm) const {
  RecordedCommunicator shown;
  std::map<std::pair<std::int64_t, std::int64_t>, RecordedChannel> channels;
  const auto channel = [&](int peer, int tag) -> RecordedChannel& {
    const std::int64_t there = local(comm, peer);
    return channels.try_emplace({there, tag}, RecordedChannel{there, tag, 0, 0}).first->second;
  };
  if (base_ != 0)
    for (const int peer : members(comm, rank_, world_.size())) {
      channel(peer, tag_before).sent = base_;
      channel(peer, tag_before).received = base_;
    }
  for (const Request& request : world_.requests) {
    if (!is_own(request, rank_, comm))
      continue;
    if (request.kind == Kind::send)
      ++channel(request.peer, request.tag).sent;
    else if (request.kind == Kind::receive && request.known)
      ++channel(request.source, request.source_tag).received;
  }
  for (const auto& [place, each] : channels)
    shown.channels.push_back(each);
  std::uint32_t entered = base_;
  for (int i = 0; i < static_cast<int>(world_.collectives.size()); ++i) {
    const Collective& each = world_.collective(i);
    if (each.rank != rank_ || each.comm != comm)
      continue;
    ++entered;
    if (!each.nonblocking || each.known)
      continue;
    RecordedCollective under_way;
    under_way.call = std::string(words_of(each.verb).call);
    under_way.sequence = base_ + each.sequence;
    if (each.verb == Verb::ibcast)
      under_way.root = each.root;
    if (is_waited_for_collective(i))
      under_way.waited = waited();
    shown.under_way.push_back(std::move(under_way));
  }
  shown.collectives = entered;
  return shown;
}

void RecordedView::rewrite(char comm, Communicator& shown) const {
  shown.counters.reset();
  shown.recorded = recorded(comm);
  for (const OpClass op_class : op_classes) {
    Queue& queue = shown.queue(op_class);
    erase_if(queue.operations,
             [](const Operation& each) { return each.status != OpStatus::inactive; });
  }
  std::map<int, std::uint32_t> sent; // by peer
  std::uint32_t received = 0;
  for (int i = 0; i < static_cast<int>(world_.requests.size()); ++i) {
    const Request& request = world_.request(i);
    if (!is_own(request, rank_, comm))
      continue;
    const bool sends = request.kind == Kind::send;
    const std::uint32_t sequence =
        sends ? sent.try_emplace(request.peer, base_).first->second++ : received++;
    if (sends || !request.known)
      shown.queue(sends ? OpClass::send : OpClass::receive)
          .operations.push_back(operation(i, sequence));
  }
  for (Queue& queue : shown.queues)
    queue.total = queue.operations.size();
  Queue& unexpected = shown.queue(OpClass::unexpected);
  unexpected.state = QueueState::unavailable;
  unexpected.reason = QueueReason::senders_unseen;
  unexpected.total.reset();
}

void RecordedView::rewrite(BlockedCall& call) const {
  call.request.reset();
  call.request_unique.reset();
  if (!call.call)
    return;
  call.group = 0;
  const RankState& state = world_.rank(rank_);
  if (state.where != Where::in_call)
    return;
  if (state.collective != Request::none) {
    const Collective& collective = world_.collective(state.collective);
    call.communicator = TargetAddress{id_of(collective.comm)};
    call.sequence = base_ + collective.sequence;
    if (collective.verb == Verb::bcast || collective.verb == Verb::reduce ||
        collective.verb == Verb::gather)
      call.root = collective.root;
    return;
  }
  const CallWait wait = wait_of(world_, rank_);
  if (!wait.requests.empty() || !wait.collectives.empty())
    call.group = waits_for();
}

} // namespace mqbridge::sim
