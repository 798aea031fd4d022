#include "host/analysis/stillness.h"

#include <algorithm>

namespace mqbridge {

namespace {

/// The sums do for all channels: a recorder's counts only grow.
bool counts_the_same(const RecordedCommunicator& one, const RecordedCommunicator& other) {
  const auto sum = [](const RecordedCommunicator& recorded) {
    std::uint64_t messages = 0;
    for (const RecordedChannel& channel : recorded.channels)
      messages += std::uint64_t{channel.sent} + channel.received;
    return messages;
  };
  return one.collectives == other.collectives && sum(one) == sum(other);
}

bool has_not_moved(const Seat& seat) {
  if (seat.before == nullptr)
    return true;
  const auto& recorded = seat.communicator->recorded;
  if (recorded && seat.before->recorded)
    return counts_the_same(*recorded, *seat.before->recorded);
  const auto& now = seat.communicator->counters;
  const auto& before = seat.before->counters;
  return !now || !before ||
         (now->received == before->received &&
          std::ranges::equal(now->peers, before->peers,
                             [](const PeerCounters& one, const PeerCounters& other) {
                               return one.peer == other.peer && one.sent == other.sent &&
                                      one.arrived == other.arrived;
                             }));
}

} // namespace

bool stands_still(const Process& process, const BlockedCall& call) {
  if (process.before == nullptr || !process.before->blocked_in)
    return false;
  const auto same = [&](const BlockedCall& before) {
    return before.thread == call.thread && before.call == call.call && before.line == call.line &&
           before.group == call.group && before.sequence == call.sequence;
  };
  if (std::ranges::none_of(*process.before->blocked_in, same))
    return false;
  return std::ranges::all_of(process.seats, has_not_moved);
}

} // namespace mqbridge
