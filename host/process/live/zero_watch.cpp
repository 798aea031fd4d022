#include "host/process/live/zero_watch.h"

#include <algorithm>

namespace mqbridge {

Result<void> ZeroWatch::read_ranges(std::span<MemoryRange> ranges) {
  auto done = below_.read_ranges(ranges);
  if (done)
    judge(ranges);
  return done;
}

Result<void> ZeroWatch::read_watched(std::span<MemoryRange> ranges, rsp::ReadWatcher& watcher) {
  auto done = below_.read_watched(ranges, watcher);
  if (done)
    judge(ranges);
  return done;
}

void ZeroWatch::judge(std::span<const MemoryRange> ranges) {
  for (const auto& range : ranges) {
    const auto bytes = range.into.first(range.read);
    const bool zeros = std::all_of(bytes.begin(), bytes.end(),
                                   [](std::byte byte) { return byte == std::byte{0}; });
    if (bytes.size() < shortest || !zeros || expected(range))
      continue;
    ++doubtful_;
    if (!first_doubtful_)
      first_doubtful_ = range.address;
  }
}

/// A part of the range is enough: whole pages are read, and a segment need not fill its last one.
bool ZeroWatch::expected(const MemoryRange& range) const {
  const auto last = range.address + (range.read - 1);
  return std::any_of(expected_.begin(), expected_.end(), [&](const Extent& extent) {
    return range.address <= extent.last && last >= extent.first;
  });
}

} // namespace mqbridge
