#include "host/memory/memory_map.h"

#include <algorithm>

namespace mqbridge {

const MappedRange* MemoryMap::find(TargetAddress address) const {
  const auto behind = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](TargetAddress wanted, const MappedRange& range) { return wanted < range.first; });
  if (behind == ranges.begin() || !std::prev(behind)->contains(address))
    return nullptr;
  return &*std::prev(behind);
}

} // namespace mqbridge
