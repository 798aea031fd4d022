#include "host/dump/rank/doubts.h"

#include "host/mqs/interpret.h"

namespace mqbridge {
namespace {

bool is_verified(const Operation& operation, const Platform& platform) {
  if (operation.repairs.contains(Repair::status))
    return true;
  // The low byte of anything but a completed request may be 0; that of a completed one is 1.
  return platform.byte_order == ByteOrder::little && operation.status == OpStatus::pending;
}

} // namespace

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

void doubt_unverified(std::vector<Communicator>& communicators, const Platform& platform) {
  for (auto& communicator : communicators)
    for (Queue& queue : communicator.queues)
      for (Operation& operation : queue.operations)
        if (!is_verified(operation, platform))
          forget_status(operation);
}

} // namespace mqbridge
