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

/// The parts of a target's memory that are mapped, as far as it is known: from /proc/PID/maps if it
/// can be read, else from program headers, the stack pointer and reads that worked. Ranges are in
/// order, and never overlap.
struct MemoryMap {
  std::vector<MappedRange> ranges;
  bool complete = false; ///< memory outside of the ranges is not mapped

  /// The range of the address; nullptr: in no range.
  const MappedRange* find(TargetAddress address) const;
};

} // namespace mqbridge
