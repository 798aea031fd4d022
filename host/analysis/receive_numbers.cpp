#include "host/analysis/receive_numbers.h"

#include <algorithm>

namespace mqbridge {

ReceiveNumbers::Numbers::Numbers(const Communicator& communicator) {
  for (const Operation& receive : communicator.queue(OpClass::receive).operations)
    if (receive.sequence &&
        (receive.status == OpStatus::pending || receive.status == OpStatus::unknown))
      all.insert(*receive.sequence);
}

std::optional<bool> ReceiveNumbers::is_new(const Seat& seat, const Operation& receive) {
  if (!receive.sequence || seat.before == nullptr || seat.communicator->recorded)
    return std::nullopt;
  const Queue& before = seat.before->queue(OpClass::receive);
  if (before.state != QueueState::available || before.truncated_by != TruncatedBy::nothing)
    return std::nullopt;
  return !numbers_.of(*seat.before).all.contains(*receive.sequence);
}

bool ReceiveNumbers::stand_still(std::size_t process) {
  const Process& it = picture_.process(process);
  const auto same_call = [&](const BlockedCall& call) { return stands_still(it, call); };
  const auto same_receives = [&](const Seat& seat) {
    return seat.before != nullptr &&
           numbers_.of(*seat.communicator).all == numbers_.of(*seat.before).all;
  };
  return it.before != nullptr && it.now->blocked_in &&
         std::ranges::all_of(*it.now->blocked_in, same_call) &&
         std::ranges::all_of(it.seats, same_receives);
}

} // namespace mqbridge
