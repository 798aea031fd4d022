#pragma once

#include "host/memory/memory_map.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// Where pages may be read that nobody asked for: in memory that can be read and has no side
/// effects. Never in a device's (files of /dev other than shared memory, of /sys and /proc, and
/// what drivers map without a file), never in the kernel's own ([vvar], [vsyscall]).
///
/// Where the map is not complete, memory around pages that could be read is taken for readable as
/// well, a window of 1 MiB each; what is wrong about that comes back as a hole. Not with
/// stay_in_map(), for machines without an operating system: devices may be anywhere there.
class PrefetchReach {
public:
  /// Page numbers, both included.
  struct Extent {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool data = false;    ///< writable, as far as it is known: pointers there are followed
    bool certain = false; ///< the map says so; else any page of it may be a hole
    std::uint64_t pages() const { return last - first + 1; }
  };

  void stay_in_map() { explores_ = false; }
  /// nullptr: nothing is known. The map is copied; windows are forgotten.
  void set_map(const MemoryMap* map);
  /// A page that was asked for, and could be read. Only counts where the map is not complete.
  void saw_readable(std::uint64_t page);

  /// nullptr: nothing around this page may be read. Valid until the next call that changes this.
  const Extent* find(std::uint64_t page) const;

  /// A page that an earlier dump looked at, or a symbol points to, which need not be today what it
  /// was then: not in a device's memory, and nowhere that nothing is mapped.
  bool may_read(std::uint64_t page) const;

  /// The first and the last page that pointers are followed to; nullopt: nowhere.
  std::optional<Extent> data_bounds() const;

private:
  void add_window(std::uint64_t page);

  bool explores_ = true;
  bool complete_ = false;
  std::vector<Extent> extents_;   ///< in order, never overlapping
  std::vector<Extent> forbidden_; ///< of the map, but not to be touched: no window goes there
};

} // namespace mqbridge
