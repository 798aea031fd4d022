#include "host/dump/operation_counts.h"

namespace mqbridge {

void OperationCounts::add(const OperationCounts& other) {
  pending += other.pending;
  complete += other.complete;
  inactive += other.inactive;
  unknown += other.unknown;
  inside += other.inside;
}

OperationCounts count_operations(const Queue& queue, OpClass op_class) {
  OperationCounts counts;
  for (const Operation& operation : queue.operations) {
    if (!is_own(operation)) {
      ++counts.inside;
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
