#include "host/dump/values/document.h"

#include <algorithm>

namespace mqbridge {

RankDump::RankDump() = default;
RankDump::RankDump(const RankDump&) = default;
RankDump::RankDump(RankDump&&) noexcept = default;
RankDump& RankDump::operator=(const RankDump&) = default;
RankDump& RankDump::operator=(RankDump&&) noexcept = default;
RankDump::~RankDump() = default;

Dump::Dump() = default;
Dump::Dump(const Dump&) = default;
Dump::Dump(Dump&&) noexcept = default;
Dump& Dump::operator=(const Dump&) = default;
Dump& Dump::operator=(Dump&&) noexcept = default;
Dump::~Dump() = default;

bool has_no_queue(const RankDump& rank) {
  return std::ranges::none_of(rank.communicators, [](const Communicator& communicator) {
    return std::ranges::any_of(communicator.queues, [](const Queue& queue) {
      return queue.state == QueueState::available;
    });
  });
}

} // namespace mqbridge
