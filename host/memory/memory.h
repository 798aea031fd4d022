#pragma once

#include "host/memory/address.h"
#include "rsp/commands/read_watcher.h"
#include "rsp/result.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// One piece of a read_ranges() call. `into` is owned by the caller and stays valid during the
/// call.
struct MemoryRange {
  TargetAddress address;
  std::span<std::byte> into;
  std::size_t read = 0; ///< out: bytes of `into` filled from its start; the rest is untouched
};

/// Memory that the process has, or may have had, and that this source does not have.
struct Lack {
  std::string_view code; ///< of an error about it
  std::string_view whom; ///< "memory that ..."
  std::string_view hint;
};
inline constexpr Lack lack_of_core = {
    "core.left_out", "the core lacks",
    "of a living process: gcore -a PID. Before the next core: echo 0x7f > "
    "/proc/PID/coredump_filter, no madvise(MADV_DONTDUMP), and ulimit -c unlimited if it was cut"};
inline constexpr Lack lack_of_stub = {
    "walk.unreadable", "the process has mapped and its stub does not read",
    "dump again; if it stays so, a newer gdbserver, or a core: gcore PID"};

/// The target's memory, read-only. Layers (stub, page cache, ...) implement it one above the other.
///
/// A short read is success with a count: the first byte that could not be read ends it. An Error
/// means that the way to the memory is lost (connection, deadline), never that an address is
/// unmapped.
///
/// Blocks; called from rank threads only, never from the I/O thread. One thread at a time.
class Memory {
public:
  virtual ~Memory() = default;

  /// Reads all ranges, in as few round trips as the layer can. Sets each `read`.
  virtual Result<void> read_ranges(std::span<MemoryRange> ranges) = 0;

  /// The same, while `watcher` looks on and decides how far it goes. A layer that cannot report
  /// bytes before all have come reads only what the watcher wants at first.
  virtual Result<void> read_watched(std::span<MemoryRange> ranges, rsp::ReadWatcher& watcher) {
    std::vector<MemoryRange> wanted;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto& into = ranges[i].into;
      const auto size = std::min(watcher.wants(i, 0), into.size());
      wanted.push_back({ranges[i].address, into.first(size)});
      if (size < into.size())
        break;
    }
    auto done = read_ranges(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ranges[i].read = wanted[i].read;
    return done;
  }

  /// Asked where a read came short: may the process have memory at `address` that this source does
  /// not have? Then the short read proves nothing about the process. nullptr: no.
  virtual const Lack* lack(TargetAddress address) const {
    static_cast<void>(address);
    return nullptr;
  }

  /// Reads one range; the number of bytes read from its start.
  Result<std::size_t> read(TargetAddress address, std::span<std::byte> into) {
    MemoryRange range{address, into};
    if (auto done = read_ranges({&range, 1}); !done)
      return forward(std::move(done));
    return range.read;
  }
};

} // namespace mqbridge
