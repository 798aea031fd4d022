#pragma once

#include "host/memory/memory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// Keeps every page that was read since the target stopped, and remembers where memory cannot be
/// read.
///
/// Valid for one stop: clear() when the target may have run. A page that is only partly readable
/// keeps its readable start. Bounded: beyond `max_pages` the cache starts anew, so a walk through
/// more memory than that is slow, not wrong.
class PageCache final : public Memory {
public:
  static constexpr std::size_t page_size =
      4096; ///< of the cache; the target's own page size may be larger

  /// `below` is not owned and outlives the cache.
  explicit PageCache(Memory& below, std::size_t max_pages = 256 * 1024)
      : below_(below), max_pages_(max_pages) {}

  /// All missing pages of all ranges are asked for in one call below.
  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  void clear();

  std::uint64_t pages_read() const { return pages_read_; } ///< asked below so far, holes included

private:
  struct Page {
    std::array<std::byte, page_size> bytes;
    std::size_t readable = 0; ///< from the start; less than page_size where a hole begins
  };

  Result<void> load_missing(std::span<const MemoryRange> ranges);
  std::size_t copy(const MemoryRange& range) const;

  Memory& below_;
  std::size_t max_pages_;
  std::uint64_t pages_read_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_; ///< by address / page_size
};

} // namespace mqbridge
