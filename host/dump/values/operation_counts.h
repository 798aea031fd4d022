#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge {

/// The program posted it: it is not the MPI's own, inside a collective.
inline bool is_own(const Operation& operation) {
  return operation.collective == Collective::none;
}

/// The program's own operations of a queue by what became of them. Every message of an unexpected
/// queue is pending: it waits for a receive.
struct OperationCounts {
  std::uint64_t pending = 0;  ///< those that matched and are on their way count
  std::uint64_t complete = 0; ///< listed until the program asks for them
  std::uint64_t inactive = 0; ///< persistent, not started
  std::uint64_t unknown = 0;
  std::uint64_t inside = 0;   ///< not the program's own: in none of the others
  std::uint64_t returned = 0; ///< is_returned_send(): in none of the others

  std::uint64_t own() const { return pending + complete + inactive + unknown; }

  void add(const OperationCounts& other);
  bool operator==(const OperationCounts&) const = default;
};

OperationCounts count_operations(const Queue& queue, OpClass op_class);

} // namespace mqbridge
