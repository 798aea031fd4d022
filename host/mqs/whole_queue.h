#pragma once

#include "host/mqs/queues.h"

namespace mqbridge {

/// Whether a queue has everything that there is: what it does not show is not there.
inline bool is_whole(const Queue& queue) {
  return queue.state == QueueState::available && queue.truncated_by == TruncatedBy::nothing &&
         queue.total == queue.operations.size();
}

} // namespace mqbridge
