#include "host/dump/values/operation_counts.h"

#include "host/mqs/interpret.h"

namespace mqbridge {

void OperationCounts::add(const OperationCounts& other) {
  pending += other.pending;
  complete += other.complete;
  inactive += other.inactive;
  unknown += other.unknown;
  inside += other.inside;
  returned += other.returned;
}

OperationCounts count_operations(const Queue& queue, OpClass op_class) {
  OperationCounts counts;
  for (const Operation& operation : queue.operations) {
    if (!is_own(operation)) {
      ++counts.inside;
      continue;
    }
    if (op_class == OpClass::send && is_returned_send(operation)) {
      ++counts.returned;
      continue;
    }
    switch (op_class == OpClass::unexpected ? OpStatus::pending : operation.status) {
    case OpStatus::pending:
    case OpStatus::matched:
      ++counts.pending;
      break;
    case OpStatus::complete:
      ++counts.complete;
      break;
    case OpStatus::inactive:
      ++counts.inactive;
      break;
    case OpStatus::unknown:
      ++counts.unknown;
      break;
    }
  }
  return counts;
}

} // namespace mqbridge
