#include "host/dump/doubtful_queues.h"

namespace mqbridge {

void mark_doubtful(std::vector<Communicator>& communicators, QueueReason reason,
                   std::string_view why) {
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      if (queue.state != QueueState::available && queue.state != QueueState::error)
        continue;
      queue.state = QueueState::error;
      queue.reason = reason;
      queue.error = std::string(why);
      queue.total.reset();
      queue.truncated_by = TruncatedBy::nothing;
    }
  }
}

} // namespace mqbridge
