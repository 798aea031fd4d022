#include "host/analysis/request_waits.h"

#include "host/analysis/threads_of_process.h"
#include "host/mpi/mpi_call.h"

#include <algorithm>

namespace mqbridge {
namespace {

bool is_pending(const Operation& operation) {
  return operation.status == OpStatus::pending || operation.status == OpStatus::unknown;
}

bool leaves_mpi(Presence presence, const RankDump& rank) {
  if (presence == Presence::exited || presence == Presence::finalized)
    return true;
  bool leaves = rank.mpi && rank.mpi->state == MpiState::finalizing;
  if (rank.blocked_in)
    for (const BlockedCall& call : *rank.blocked_in)
      if (call.call && kind_of_call(*call.call) == CallKind::finalize) {
        if (callback_in(rank, call) != Callback::none)
          return false;
        leaves = true;
      }
  return leaves;
}

bool in_mpi(const RankDump& rank) {
  return rank.blocked_in && std::ranges::any_of(*rank.blocked_in, [](const BlockedCall& call) {
           return call.call.has_value();
         });
}

bool in_mpi_twice(const Process& process) {
  return in_mpi(*process.now) && process.before != nullptr && in_mpi(*process.before);
}

} // namespace

bool is_open(const Operation& operation) {
  const bool matched = operation.status == OpStatus::matched && operation.kind != OpKind::message;
  return is_pending(operation) || matched;
}

RequestWaits::RequestWaits(const JobPicture& picture, const Channels& channels, WaitGraph& graph,
                           const std::vector<WaitNode>& process_nodes)
    : picture_(picture), channels_(channels), graph_(graph), process_nodes_(process_nodes),
      under_way_(picture.processes().size()),
      collectives_(picture, graph, [this](const Partner& partner, bool unsure) {
        return member(partner, unsure);
      }) {
  for (const Process& process : picture.processes()) {
    does_no_more_.push_back(leaves_mpi(process.presence, *process.now));
    did_no_more_.push_back(process.before != nullptr &&
                           leaves_mpi(process.presence_before, *process.before));
    const auto& stop = process.now->stopped_at;
    if (stop && process.presence == Presence::here)
      earliest_stop_ = std::min(earliest_stop_.value_or(*stop), *stop);
    suspended_ = suspended_ || was_suspended(process);
    has_threads_.push_back(is_multi_threaded(*process.now, threads_of(*process.now)));
  }
  find_collectives_under_way();
}

/// Makes all nodes first, since each collective may wait for any other one.
void RequestWaits::find_collectives_under_way() {
  for (std::size_t process = 0; process < under_way_.size(); ++process) {
    auto& found = under_way_[process];
    for (const Seat& seat : picture_.process(process).seats)
      for (const OpClass op_class : {OpClass::send, OpClass::receive})
        for (const Operation& operation : seat.communicator->queue(op_class).operations) {
          if (operation.collective != Collective::nonblocking || !is_open(operation) ||
              !operation.tag.value)
            continue;
          const auto same = [&](const CollectiveUnderWay& each) {
            return each.seat == &seat && each.tag == *operation.tag.value;
          };
          auto at = std::ranges::find_if(found, same);
          if (at == found.end())
            at = found.insert(at,
                              {graph_.add(WaitGraph::Mode::all), &seat, *operation.tag.value, {}});
          at->operations.push_back({&seat, op_class, &operation});
        }
    for (const Seat& seat : picture_.process(process).seats)
      if (seat.communicator->recorded)
        for (const RecordedCollective& each : seat.communicator->recorded->under_way)
          found.push_back({graph_.add(WaitGraph::Mode::all), &seat, 0, {}, &each});
  }
  for (std::size_t process = 0; process < under_way_.size(); ++process)
    for (CollectiveUnderWay& collective : under_way_[process]) {
      for (const OperationAt& at : collective.operations)
        graph_.wait_for(collective.node, node_of(process, at));
      if (collective.recorded != nullptr)
        wait_for_members(process, collective);
    }
}

void RequestWaits::wait_for_members(std::size_t process, CollectiveUnderWay& collective) {
  const RecordedCollective& it = *collective.recorded;
  const auto wait = collectives_.wait_of({process, collective.seat, it.call, it.sequence, it.root});
  if (!wait)
    return graph_.wait_for(collective.node, WaitGraph::unknown);
  collective.members = *wait;
  graph_.wait_for(collective.node, wait->needed);
  if (wait->has_others())
    graph_.wait_for(collective.node, graph_.either(wait->all_others, WaitGraph::guessed));
}

/// A member that has not entered a collective, as far as is known. If it has left MPI, it did so
/// after all collectives that it had entered.
WaitNode RequestWaits::member(const Partner& partner, bool unsure) {
  const WaitNode node = node_of(partner);
  if (!unsure || !partner.process)
    return node;
  return graph_.either(node, does_no_more_[*partner.process] ? still_gone(*partner.process)
                                                             : WaitGraph::unknown);
}

WaitNode RequestWaits::node_of(const Partner& partner) const {
  if (!partner.process)
    return WaitGraph::unknown;
  if (does_no_more(*partner.process))
    return WaitGraph::never;
  return picture_.process(*partner.process).presence == Presence::unread
             ? WaitGraph::unknown
             : process_nodes_[*partner.process];
}

WaitNode RequestWaits::node_for(std::size_t process, const Partner& partner) const {
  return partner.process == process && !has_threads_[process] ? WaitGraph::never : node_of(partner);
}

WaitNode RequestWaits::peer_in(std::size_t process, const Partner& partner, const Seat& seat,
                               const Operation& operation) {
  const WaitNode node = node_for(process, partner);
  if (operation.collective != Collective::nonblocking || !partner.process)
    return node;
  const auto& others = under_way_[*partner.process];
  const auto same = std::ranges::find_if(others, [&](const CollectiveUnderWay& each) {
    return each.seat->key == seat.key && each.tag == *operation.tag.value;
  });
  return same == others.end() ? node : graph_.either(node, same->node);
}

WaitNode RequestWaits::node_of(std::size_t process, const OperationAt& at, bool alone) {
  const Operation& operation = *at.operation;
  if (operation.status == OpStatus::matched)
    return at.op_class == OpClass::receive ? matched(process, *at.seat, operation)
                                           : met_send(process, at);
  if (!is_pending(operation))
    return WaitGraph::satisfied;
  const WaitNode node = at.op_class == OpClass::send ? send(process, *at.seat, operation)
                                                     : receive(process, *at.seat, operation);
  if (operation.status != OpStatus::unknown)
    return node;
  const bool too_late =
      alone && at.op_class == OpClass::receive && sends_no_data(partner_of(process, at));
  return too_late ? node : graph_.either(node, WaitGraph::guessed);
}

/// A message that has not come is stuck if both its processes were in MPI all the time, as far as
/// two looks tell. Outside of MPI no process takes a message in, and some transports send none.
Traffic RequestWaits::seen(Traffic traffic, std::size_t sender, std::size_t receiver) {
  if (traffic != Traffic::stuck)
    return traffic;
  if (!both_progress(sender, receiver))
    return Traffic::moving;
  note_stuck(sender, receiver);
  return traffic;
}

WaitNode RequestWaits::receive(std::size_t process, const Seat& seat, const Operation& operation) {
  if (arrived_.of(*seat.communicator).has_for(operation))
    return WaitGraph::satisfied; // the message and the receive are both there: they are about to
                                 // meet
  if (operation.peer.any)
    return operation.collective == Collective::none ? wildcard(process, seat, operation)
                                                    : members_of_instance(process, seat, operation);
  if (operation.peer.local_rank == proc_null)
    return WaitGraph::satisfied;
  const auto sender = picture_.partner(process, *seat.communicator, operation.peer);
  if (!sender)
    return WaitGraph::unknown;
  const WaitNode node = peer_in(process, *sender, seat, operation);
  if (!sender->process)
    return node;
  switch (seen(channels_.traffic(*sender->process, seat), *sender->process, process)) {
  case Traffic::none:
    return node;
  case Traffic::came:
    return graph_.either(node, WaitGraph::doubtful);
  case Traffic::moving:
    return WaitGraph::satisfied;
  case Traffic::stuck:
    return graph_.either(node, WaitGraph::unknown);
  case Traffic::unknown:
    break;
  }
  return graph_.either(node, does_no_more_[*sender->process]
                                 ? still_gone(*sender->process)
                                 : message_to(process, seat, operation, *sender->process));
}

/// Whether a receive may have a message on its way to it, where none are counted. One that was
/// posted between two looks shows that messages come. If neither rank has moved meanwhile, it has
/// none, unless the network has stopped.
WaitNode RequestWaits::message_to(std::size_t process, const Seat& seat, const Operation& receive,
                                  std::size_t sender) {
  if (was_suspended(picture_.process(process)))
    return WaitGraph::unknown;
  const auto fresh = numbers_.is_new(seat, receive);
  if (fresh == true)
    return WaitGraph::doubtful;
  const bool nothing_moves = fresh == false && both_progress(sender, process) &&
                             numbers_.stand_still(sender) && numbers_.stand_still(process);
  return nothing_moves ? WaitGraph::unproven : WaitGraph::guessed;
}

/// In one of the looks: then it takes no message in.
bool RequestWaits::was_suspended(const Process& process) {
  return is_suspended(process) ||
         (process.before != nullptr && process.before->process_state == "T");
}

/// Whether the look before showed that it had left MPI: whatever it had sent has come since, unless
/// a signal had stopped somebody.
bool RequestWaits::was_gone(std::size_t process) const {
  return did_no_more_[process] && !suspended_ && earliest_stop_ &&
         picture_.process(process).before_at < *earliest_stop_;
}

/// Inside of MPI_Finalize a process still sends the data of earlier sends.
bool RequestWaits::sends_no_data(const std::optional<Partner>& partner) const {
  if (!partner || !partner->process)
    return false;
  const Presence before = picture_.process(*partner->process).presence_before;
  return (before == Presence::exited || before == Presence::finalized) &&
         does_no_more_[*partner->process] && was_gone(*partner->process);
}

/// Nobody knows what a process that has left MPI had sent before. But if an earlier look showed it
/// gone already, those messages have come since.
WaitNode RequestWaits::still_gone(std::size_t process) {
  if (was_gone(process))
    return WaitGraph::unproven;
  left_unseen_.insert(process);
  return WaitGraph::unknown;
}

/// The data of a matched message comes by itself, unless its sender is gone.
WaitNode RequestWaits::matched(std::size_t process, const Seat& seat, const Operation& operation) {
  Peer peer = operation.peer;
  if (peer.any && operation.actual)
    peer = {false, operation.actual->local_rank, operation.actual->global_rank};
  const auto sender = picture_.partner(process, *seat.communicator, peer);
  if (!sender || !sender->process ||
      picture_.process(*sender->process).presence != Presence::exited)
    return WaitGraph::satisfied;
  return graph_.either(WaitGraph::never, still_gone(*sender->process));
}

/// Whether every member that the document has, and that may still send, counts its messages there.
bool RequestWaits::all_count(std::size_t process, const Seat& seat) {
  if (!seat.communicator->counters)
    return false;
  const auto count = JobPicture::members(*seat.communicator).value_or(0);
  for (std::int64_t rank = 0; rank < count; ++rank) {
    const auto member = picture_.member(process, *seat.communicator, rank);
    if (member && member->process && !does_no_more_[*member->process] &&
        !counts(*member->process, seat))
      return false;
  }
  return true;
}

bool RequestWaits::counts(std::size_t process, const Seat& seat) const {
  const Seat* its = picture_.seat(process, seat.key);
  return its != nullptr && its->communicator->counters;
}

/// Waits for any member. The process itself is among them, but cannot help itself.
WaitNode RequestWaits::anybody(std::size_t process, const Seat& seat) {
  const auto first = picture_.member(process, *seat.communicator, 0);
  if (!first)
    return WaitGraph::unknown;
  const auto [at, is_new] =
      anybody_.try_emplace({seat.key, first->job, first->rank}, WaitGraph::unknown);
  if (!is_new)
    return at->second;
  at->second = graph_.add(WaitGraph::Mode::any);
  const auto count = JobPicture::members(*seat.communicator).value_or(0);
  bool unknown = false;
  WaitNode gone = WaitGraph::never; // messages that it has sent before are not known
  for (std::int64_t rank = 0; rank < count; ++rank) {
    const auto member = picture_.member(process, *seat.communicator, rank);
    const WaitNode node = member ? node_of(*member) : WaitGraph::unknown;
    if (node > WaitGraph::last_constant)
      graph_.wait_for(at->second, node);
    unknown = unknown || node == WaitGraph::unknown;
    if (node == WaitGraph::never && gone != WaitGraph::unknown && !counts(*member->process, seat))
      gone = still_gone(*member->process);
  }
  if (unknown)
    graph_.wait_for(at->second, WaitGraph::unknown);
  graph_.wait_for(at->second, gone);
  if (!all_count(process, seat))
    graph_.wait_for(at->second, WaitGraph::guessed);
  return at->second;
}

WaitNode RequestWaits::wildcard(std::size_t process, const Seat& seat, const Operation& operation) {
  if (JobPicture::members(*seat.communicator) == 1 && !has_threads_[process]) {
    const auto only = picture_.member(process, *seat.communicator, 0);
    if (only && only->process == process)
      return WaitGraph::never;
  }
  switch (seen(channels_.traffic_to(process, seat), process, process)) {
  case Traffic::moving:
    return WaitGraph::satisfied;
  case Traffic::stuck:
    return graph_.either(anybody(process, seat), WaitGraph::unknown);
  case Traffic::came:
    return graph_.either(anybody(process, seat), WaitGraph::doubtful);
  case Traffic::none:
  case Traffic::unknown:
    break;
  }
  const WaitNode node = anybody(process, seat);
  if (all_count(process, seat))
    return node;
  if (was_suspended(picture_.process(process)))
    return graph_.either(node, WaitGraph::unknown);
  return numbers_.is_new(seat, operation) == true ? graph_.either(node, WaitGraph::doubtful) : node;
}

/// Whether the member is inside a collective and waits there with operations of this kind and tag.
bool RequestWaits::is_in_instance(std::size_t member, std::uint32_t key,
                                  const Operation& operation) const {
  const Seat* seat = picture_.seat(member, key);
  if (seat == nullptr)
    return false;
  return std::ranges::any_of(op_classes, [&](OpClass op_class) {
    return op_class != OpClass::unexpected &&
           std::ranges::any_of(seat->communicator->queue(op_class).operations,
                               [&](const Operation& each) {
                                 return is_open(each) && each.collective == operation.collective &&
                                        each.tag.value == operation.tag.value;
                               });
  });
}

/// The members that a receive of the MPI itself from anybody waits for. It takes one message after
/// the other, one of each member: it has all of them when the last member has entered.
WaitNode RequestWaits::members_of_instance(std::size_t process, const Seat& seat,
                                           const Operation& operation) {
  const auto [known, is_new] =
      instances_.try_emplace({&seat, operation.tag.value.value_or(0)}, WaitGraph::satisfied);
  if (!is_new)
    return known->second;
  const auto traffic = seen(channels_.traffic_to(process, seat), process, process);
  if (traffic == Traffic::moving)
    return known->second;
  WaitNode node = absent_members(process, seat, operation);
  if (traffic == Traffic::stuck || traffic == Traffic::came)
    node =
        graph_.either(node, traffic == Traffic::stuck ? WaitGraph::unknown : WaitGraph::doubtful);
  else if (node > WaitGraph::last_constant && !all_count(process, seat))
    node = graph_.either(node, was_suspended(picture_.process(process))   ? WaitGraph::unknown
                               : numbers_.is_new(seat, operation) == true ? WaitGraph::doubtful
                                                                          : WaitGraph::guessed);
  return known->second = node;
}

/// All members that are not in the instance. If there are none, it goes on.
WaitNode RequestWaits::absent_members(std::size_t process, const Seat& seat,
                                      const Operation& operation) {
  const auto count = JobPicture::members(*seat.communicator);
  if (!count)
    return WaitGraph::unknown;
  const WaitNode node = graph_.add(WaitGraph::Mode::all);
  for (std::int64_t rank = 0; rank < *count; ++rank) {
    const auto member = picture_.member(process, *seat.communicator, rank);
    const bool in_it =
        member && member->process &&
        (*member->process == process || is_in_instance(*member->process, seat.key, operation));
    if (in_it)
      continue;
    WaitNode needed = member ? node_of(*member) : WaitGraph::unknown;
    if (needed == WaitGraph::never && !counts(*member->process, seat))
      needed = graph_.either(
          needed, still_gone(*member->process)); // it may have been in the instance before
    graph_.wait_for(node, needed);
  }
  return node;
}

WaitNode RequestWaits::send(std::size_t process, const Seat& seat, const Operation& operation) {
  if (operation.peer.local_rank == proc_null)
    return WaitGraph::satisfied;
  const auto receiver = picture_.partner(process, *seat.communicator, operation.peer);
  if (!receiver)
    return WaitGraph::unknown;
  if (!receiver->process)
    return node_of(*receiver);
  if (seat.communicator->recorded)
    return recorded_send(process, *receiver->process, {&seat, OpClass::send, &operation});
  return send_to(process, *receiver->process, seat, operation);
}

/// A pending send waits for its receiver to post a receive, until its message has met one.
WaitNode RequestWaits::send_to(std::size_t process, std::size_t receiver, const Seat& seat,
                               const Operation& operation) {
  const Process& it = picture_.process(receiver);
  const WaitNode node = peer_in(process, {receiver, it.job, it.rank}, seat, operation);
  const Seat* theirs = picture_.seat(receiver, seat.key);
  const auto own_rank = seat.communicator->local_rank;
  if (theirs == nullptr || !own_rank)
    return graph_.either(node, does_no_more_[receiver] ? still_gone(receiver) : WaitGraph::guessed);
  const Communicator& communicator = *theirs->communicator;
  if (arrived_.of(communicator).has(*own_rank, operation.sequence, operation.tag.value)) {
    return has_receive(communicator, *own_rank, operation) ? WaitGraph::satisfied : node;
  }
  if (arrived_.of(communicator).holds(*own_rank, operation.tag.value))
    return graph_.either(
        node,
        WaitGraph::unproven); // MPI_Mprobe has the message, and MPI_Mrecv is to come
  const auto arrived = channels_.arrived(process, *theirs, operation.sequence);
  if (arrived == false) {
    const bool stuck =
        seen(channels_.traffic(process, *theirs), process, receiver) == Traffic::stuck;
    return graph_.either(node, stuck ? WaitGraph::unknown : WaitGraph::satisfied);
  }
  if (!is_whole(communicator.queue(OpClass::unexpected)))
    return graph_.either(node, has_receive(communicator, *own_rank, operation)
                                   ? WaitGraph::unknown
                                   : WaitGraph::guessed);
  // The message has met a receive, or is about to meet one. But UCX lists no message that
  // MPI_Mprobe has taken.
  const bool listed = operation.source != OpSource::mqbridge || communicator.counters ||
                      meets_receive(communicator, *own_rank, operation);
  return listed ? WaitGraph::satisfied : graph_.either(node, WaitGraph::unknown);
}

/// Whether a receive is posted that the send's message would meet. Where nobody says whether they
/// have met, both are no cycle: they do, or the send has met an earlier receive, or the receive an
/// earlier message, and one of the two ranks goes on.
bool RequestWaits::has_receive(const Communicator& receiver, std::int64_t own_rank,
                               const Operation& send) {
  return posted_.of(receiver).has_for(own_rank, send.tag.value,
                                      send.collective != Collective::none);
}

/// Whether the receiver has a receive for this send, which has met its message or will.
bool RequestWaits::meets_receive(const Communicator& receiver, std::int64_t own_rank,
                                 const Operation& send) {
  if (has_receive(receiver, own_rank, send))
    return true;
  return std::ranges::any_of(
      receiver.queue(OpClass::receive).operations, [&](const Operation& receive) {
        return receive.status == OpStatus::matched && receive.actual &&
               receive.actual->local_rank == own_rank && receive.actual->tag == send.tag.value;
      });
}

/// A recorder knows that the program waits for this send, and that it has met no receive. Only the
/// kind of the send tells whether the MPI may have taken its message meanwhile.
WaitNode RequestWaits::recorded_send(std::size_t process, std::size_t receiver,
                                     const OperationAt& at) {
  const Operation& operation = *at.operation;
  const SendKind kind = operation.call ? kind_of_send(*operation.call) : SendKind::standard;
  if (kind == SendKind::buffered)
    return WaitGraph::satisfied;
  const WaitNode node = receiver_of(process, at);
  const Seat* theirs = picture_.seat(receiver, at.seat->key);
  const auto own_rank = at.seat->communicator->local_rank;
  if (operation.status == OpStatus::unknown && theirs != nullptr && own_rank &&
      has_receive(*theirs->communicator, *own_rank, operation))
    return graph_.either(node, WaitGraph::unknown);
  if (does_no_more_[receiver] && !counts(receiver, *at.seat))
    return graph_.either(node, still_gone(receiver));
  return kind == SendKind::synchronous ? node : graph_.either(node, WaitGraph::guessed);
}

WaitNode RequestWaits::receiver_of(std::size_t process, const OperationAt& at) const {
  const auto receiver = partner_of(process, at);
  return receiver ? node_for(process, *receiver) : WaitGraph::unknown;
}

/// MPI_Mprobe may have taken the message, and MPI_Mrecv is to come.
WaitNode RequestWaits::met_send(std::size_t process, const OperationAt& at) {
  const auto receiver = partner_of(process, at);
  const Seat* theirs =
      receiver && receiver->process ? picture_.seat(*receiver->process, at.seat->key) : nullptr;
  const auto own_rank = at.seat->communicator->local_rank;
  const bool held = theirs != nullptr && own_rank &&
                    arrived_.of(*theirs->communicator).holds(*own_rank, at.operation->tag.value);
  return held ? graph_.either(receiver_of(process, at), WaitGraph::unproven) : WaitGraph::satisfied;
}

bool RequestWaits::was_met_before(const OperationAt& at) {
  return at.seat->before != nullptr &&
         met_before_.of(*at.seat->before).has(at.op_class, *at.operation);
}

bool RequestWaits::both_progress(std::size_t one, std::size_t other) const {
  return in_mpi_twice(picture_.process(one)) && in_mpi_twice(picture_.process(other));
}

} // namespace mqbridge
