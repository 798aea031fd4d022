#include "host/dump/operation_counts.h"

namespace mqbridge {

void OperationCounts::add(const OperationCounts& other) {
  pending += other.pending;
  complete += other.complete;
}

OperationCounts count_operations(const Queue& queue, OpClass op_class) {
  OperationCounts counts;
  for (const Operation& operation : queue.operations)
    ++(op_class != OpClass::unexpected && operation.status == OpStatus::complete ? counts.complete
                                                                                 : counts.pending);
  return counts;
}

} // namespace mqbridge
