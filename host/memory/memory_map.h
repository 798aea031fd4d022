#pragma once

#include "host/memory/address.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

/// Addresses from `first` to `last`, both included, that are known to be mapped.
struct MappedRange {
  TargetAddress first;
  TargetAddress last;
  bool readable = true;
  bool writable = false;
  std::string name =
      {}; ///< of the mapped file, "[heap]", "[stack]"; empty: anonymous, or not known

  bool contains(TargetAddress address) const { return first <= address && address <= last; }
};

/// What is mapped in a target, as far as it is known: /proc/PID/maps where it can be read, else
/// what program headers, the stack pointer and reads that worked say. Ranges in order, never
/// overlapping.
struct MemoryMap {
  std::vector<MappedRange> ranges;
  bool complete = false; ///< what no range has is not mapped

  /// nullptr: in none.
  const MappedRange* find(TargetAddress address) const;
};

} // namespace mqbridge
