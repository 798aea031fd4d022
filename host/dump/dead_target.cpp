#include "host/dump/dead_target.h"

namespace mqbridge {

void mark_target_died(std::vector<Communicator>& communicators) {
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      if (queue.state != QueueState::available && queue.state != QueueState::error)
        continue;
      queue.state = QueueState::error;
      queue.reason = QueueReason::target_died;
      queue.error = "the process ended while it was held";
      queue.total.reset();
      queue.truncated_by = TruncatedBy::nothing;
    }
  }
}

} // namespace mqbridge
