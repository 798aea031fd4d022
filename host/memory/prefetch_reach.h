#pragma once

#include "host/memory/memory_map.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// Where pages may be read that nobody asked for: in memory that can be read without side effects.
/// Never in a device's memory (files of /dev other than shared memory, files of /sys and /proc, and
/// memory that drivers map without a file), and never in the kernel's own pages ([vvar],
/// [vsyscall]).
///
/// If the map is not complete, memory around readable pages counts as readable, in a window of 1
/// MiB each; a wrong guess there becomes a hole. Not with stay_in_map(), for machines without an
/// operating system: devices may be anywhere there.
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
  /// The memory map; nullptr: not known. The map is copied; windows are forgotten.
  void set_map(const MemoryMap* map);
  /// A page that was asked for could be read. Matters only if the map is not complete.
  void saw_readable(std::uint64_t page);

  /// nullptr: nothing around this page may be read. Valid until the next call that changes this.
  const Extent* find(std::uint64_t page) const;

  /// Whether to read a page that an earlier dump looked at, or to which a symbol points. It may be
  /// another one today: it must not be in a device's memory, nor where nothing is mapped.
  bool may_read(std::uint64_t page) const;

  /// The range of pages to which pointers are followed; nullopt: none.
  std::optional<Extent> data_bounds() const;

private:
  void add_window(std::uint64_t page);

  bool explores_ = true;
  bool complete_ = false;
  std::vector<Extent> extents_; ///< in order, never overlapping
  std::vector<Extent>
      forbidden_; ///< pages of the map that must not be touched: no window goes there
};

} // namespace mqbridge
