#include "host/analysis/stillness.h"

#include <algorithm>

namespace mqbridge {

bool stands_still(const Process& process, const BlockedCall& call) {
  if (process.before == nullptr || !process.before->blocked_in)
    return false;
  const auto same = [&](const BlockedCall& before) {
    return before.thread == call.thread && before.call == call.call && before.line == call.line;
  };
  if (std::ranges::none_of(*process.before->blocked_in, same))
    return false;
  return std::ranges::all_of(process.seats, [](const Seat& seat) {
    const auto& now = seat.communicator->counters;
    if (!now || seat.before == nullptr || !seat.before->counters)
      return true;
    return now->received == seat.before->counters->received &&
           std::ranges::equal(now->peers, seat.before->counters->peers,
                              [](const PeerCounters& one, const PeerCounters& other) {
                                return one.peer == other.peer && one.sent == other.sent &&
                                       one.arrived == other.arrived;
                              });
  });
}

} // namespace mqbridge
