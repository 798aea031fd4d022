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

} // namespace mqbridge
