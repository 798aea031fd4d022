#include "host/mpi/queue_filler.h"

#include "host/mqs/interpret.h"

#include <utility>

namespace mqbridge {

Admission QueueFiller::admit(Operation& operation) {
  if (operation.peer.local_rank)
    operation.peer.global_rank = world_rank_of_peer(*communicator_, operation.peer.local_rank);
  const bool full = admitted_ == request_->max_operations;
  const bool wanted = !full && (!request_->keep || request_->keep(*communicator_, operation));
  const bool memory = !wanted || !request_->take_memory || request_->take_memory();
  if (full || !memory) {
    queue_->total.reset();
    queue_->truncated_by = full ? TruncatedBy::operations : TruncatedBy::bytes;
    return Admission::full;
  }
  ++admitted_;
  if (queue_->total)
    ++*queue_->total;
  return wanted ? Admission::kept : Admission::dropped;
}

void QueueFiller::damage(std::string why) {
  queue_->state = QueueState::error;
  queue_->reason = QueueReason::none;
  queue_->total.reset();
  if (!queue_->error)
    queue_->error = std::move(why);
}

StackFiller::StackFiller(std::vector<Communicator>& communicators,
                         std::span<const OpClass> classes) {
  for (Communicator& communicator : communicators)
    for (const OpClass op_class : classes)
      if (Queue& queue = communicator.queue(op_class);
          queue.state == QueueState::available && queue.total)
        totals_.emplace(std::pair(communicator.id.value, op_class),
                        *std::exchange(queue.total, std::nullopt));
}

void StackFiller::add(Communicator& communicator, OpClass op_class, Operation operation) {
  const auto total = totals_.find({communicator.id.value, op_class});
  if (total == totals_.end())
    return;
  operation.peer.global_rank = world_rank_of_peer(communicator, operation.peer.local_rank);
  communicator.queue(op_class).operations.push_back(std::move(operation));
  ++total->second;
}

void StackFiller::complete(std::vector<Communicator>& communicators, OpClass op_class) const {
  for (Communicator& communicator : communicators)
    if (const auto total = totals_.find({communicator.id.value, op_class}); total != totals_.end())
      communicator.queue(op_class).total = total->second;
}

} // namespace mqbridge
