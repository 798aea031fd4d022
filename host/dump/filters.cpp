#include "host/dump/filters.h"

#include <algorithm>

namespace mqbridge {
namespace {

template <class T>
bool asked(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

/// A wildcard receive may match any tag or peer: it stays.
bool asked(const Filters& filters, const Operation& operation) {
  const bool tag =
      operation.tag.any || !operation.tag.value || asked(filters.tags, *operation.tag.value);
  const auto& rank =
      operation.peer.global_rank ? operation.peer.global_rank : operation.peer.local_rank;
  const bool peer = operation.peer.any || !rank || asked(filters.peers, *rank);
  return tag && peer;
}

} // namespace

void apply_filters(const Filters& filters, std::vector<Communicator>& communicators) {
  std::erase_if(communicators, [&](const Communicator& communicator) {
    return !asked(filters.communicators, communicator.name);
  });
  if (filters.tags.empty() && filters.peers.empty())
    return;
  for (auto& communicator : communicators)
    for (auto& queue : communicator.queues)
      std::erase_if(queue.operations,
                    [&](const Operation& operation) { return !asked(filters, operation); });
}

} // namespace mqbridge
