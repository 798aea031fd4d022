#include "host/analysis/message_index.h"

namespace mqbridge {
namespace {

std::uint64_t pair_of(std::int64_t sender, std::int64_t other) {
  return (static_cast<std::uint64_t>(sender) << 32) ^
         (static_cast<std::uint64_t>(other) & 0xffffffff);
}

/// Whether MPI_Mrecv has been called for the message.
bool is_of_taken_message(const Operation& receive) {
  return receive.call && (*receive.call == "MPI_Imrecv" || *receive.call == "MPI_Mrecv");
}

} // namespace

ArrivedMessages::ArrivedMessages(const Communicator& communicator)
    : modulus_(communicator.counters ? communicator.counters->modulus : 0) {
  for (const Operation& message : communicator.queue(OpClass::unexpected).operations) {
    if (!message.peer.local_rank || !message.tag.value)
      continue;
    const std::int64_t sender = *message.peer.local_rank;
    // The recorder of one process alone says that MPI_Mprobe has taken the message: no receive can.
    if (communicator.recorded && message.source == OpSource::dll) {
      held_.emplace(sender, *message.tag.value);
      continue;
    }
    tagged_.insert(pair_of(sender, *message.tag.value));
    if (message.collective == Collective::none) {
      senders_.insert(sender);
      tags_.insert(*message.tag.value);
    }
    const std::optional<std::uint32_t> sequence = message.sequence;
    if (sequence && modulus_ > 0)
      numbers_.insert(pair_of(sender, *sequence % modulus_));
    else
      numbered_ = false;
  }
  const auto& receives = communicator.queue(OpClass::receive).operations;
  if (communicator.recorded)
    for (const Operation& receive : receives)
      if (is_of_taken_message(receive) && receive.actual && receive.actual->local_rank &&
          receive.actual->tag)
        held_.erase({*receive.actual->local_rank, *receive.actual->tag});
  for (const Operation& taken : receives)
    if (taken.kind == OpKind::message && taken.actual && taken.actual->local_rank &&
        taken.actual->tag)
      held_.emplace(*taken.actual->local_rank, *taken.actual->tag);
}

bool ArrivedMessages::has(std::int64_t sender, std::optional<std::uint32_t> sequence,
                          MaybeInt tag) const {
  if (numbered_ && sequence && modulus_ > 0)
    return numbers_.contains(pair_of(sender, *sequence % modulus_));
  return tag && tagged_.contains(pair_of(sender, *tag));
}

bool ArrivedMessages::has_for(const Operation& receive) const {
  if (receive.peer.any)
    return receive.tag.any ? !tags_.empty()
                           : receive.tag.value && tags_.contains(*receive.tag.value);
  if (!receive.peer.local_rank)
    return false;
  const std::int64_t sender = *receive.peer.local_rank;
  if (receive.tag.any)
    return senders_.contains(sender);
  return receive.tag.value && tagged_.contains(pair_of(sender, *receive.tag.value));
}

PostedReceives::PostedReceives(const Communicator& communicator) {
  for (const Operation& receive : communicator.queue(OpClass::receive).operations) {
    if (receive.status != OpStatus::pending && receive.status != OpStatus::unknown)
      continue;
    const bool own = receive.collective == Collective::none;
    if (receive.peer.any && receive.tag.any)
      anything_ = true;
    else if (receive.peer.any && receive.tag.value)
      (own ? tags_ : collective_tags_).insert(*receive.tag.value);
    else if (receive.peer.local_rank && receive.tag.any)
      senders_.insert(*receive.peer.local_rank);
    else if (receive.peer.local_rank && receive.tag.value)
      exact_.insert(pair_of(*receive.peer.local_rank, *receive.tag.value));
  }
}

bool PostedReceives::has_for(std::int64_t sender, MaybeInt tag, bool collective) const {
  if (!tag)
    return false;
  if (exact_.contains(pair_of(sender, *tag)))
    return true;
  if (collective)
    return collective_tags_.contains(*tag);
  return anything_ || senders_.contains(sender) || tags_.contains(*tag);
}

MetOperations::MetOperations(const Communicator& communicator) {
  for (const OpClass op_class : {OpClass::send, OpClass::receive})
    for (const Operation& operation : communicator.queue(op_class).operations) {
      if (operation.status != OpStatus::matched || !operation.sequence)
        continue;
      if (op_class == OpClass::send)
        sends_.insert(pair_of(operation.peer.local_rank.value_or(0), *operation.sequence));
      else
        receives_.insert(*operation.sequence);
    }
}

bool MetOperations::has(OpClass op_class, const Operation& operation) const {
  if (!operation.sequence)
    return false;
  return op_class == OpClass::send
             ? sends_.contains(pair_of(operation.peer.local_rank.value_or(0), *operation.sequence))
             : receives_.contains(*operation.sequence);
}

} // namespace mqbridge
