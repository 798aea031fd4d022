#include "host/dump/unverified.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

bool is_verified(const Operation& operation, const Platform& platform) {
  if (operation.repairs.contains(Repair::status))
    return true;
  // The low byte of anything but a completed request may be 0; that of a completed one is 1.
  return platform.byte_order == ByteOrder::little && operation.status == OpStatus::pending;
}

} // namespace

void leave_out_unverified(std::vector<Communicator>& communicators, const Platform& platform,
                          const Error& why) {
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      const auto left_out = erase_if(queue.operations, [&](const Operation& operation) {
        return !is_verified(operation, platform);
      });
      if (left_out == 0)
        continue;
      const auto words = fmt::format("left out: {} with a status that could not be read again ({})",
                                     left_out, why.code);
      queue.error = queue.error ? fmt::format("{}; {}", *queue.error, words) : words;
      if (queue.state == QueueState::available)
        queue.reason = QueueReason::none;
      queue.state = QueueState::error;
    }
  }
}

} // namespace mqbridge
