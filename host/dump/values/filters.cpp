#include "host/dump/values/filters.h"

#include "host/dump/values/operation_counts.h"
#include "rsp/packet/printable.h"

#include <algorithm>

namespace mqbridge {
namespace {

template <class T>
bool asked(const std::vector<T>& values, const T& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

} // namespace

bool hides_operations(const Filters& filters) {
  bool hides = filters.no_queues;
  each_queue_filter(
      [&](Filter filter, const auto& values) {
        hides = hides || (filter.of != FilterOf::ranks && !values.empty());
      },
      filters);
  return hides;
}

void drop_unwanted(std::vector<Communicator>& communicators, const Filters& filters) {
  for (auto& communicator : communicators)
    for (const OpClass op_class : op_classes) {
      Queue& queue = communicator.queue(op_class);
      if (!asked(filters.queues, op_class))
        queue = Queue();
      else
        erase_if(queue.operations,
                 [&](const Operation& operation) { return !wanted(filters, operation); });
    }
}

bool wanted(const Filters& filters, std::optional<int> rank) {
  return !rank || asked(filters.ranks, std::int64_t{*rank});
}

bool wanted(const Filters& filters, const Communicator& communicator) {
  // As it is in memory, or as a report prints it.
  return asked(filters.communicators, communicator.name) ||
         asked(filters.communicators, printable(communicator.name));
}

bool wanted(const Filters& filters, const Operation& operation) {
  if (!is_own(operation))
    return true;
  const bool tag =
      operation.tag.any || !operation.tag.value || asked(filters.tags, *operation.tag.value);
  const auto& rank =
      operation.peer.global_rank ? operation.peer.global_rank : operation.peer.local_rank;
  const bool peer = operation.peer.any || !rank || asked(filters.peers, *rank);
  return tag && peer;
}

} // namespace mqbridge
