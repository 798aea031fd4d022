#pragma once

#include <cstddef>
#include <cstring>

namespace mqbridge::worker {

/// A structure that a DLL fills in: zeroed before each call, with room behind it, since some DLLs
/// write more than they should. Nobody reads that room.
template <class Structure>
struct OutStructure {
  static constexpr std::size_t spare_bytes = 1024;

  Structure value;
  std::byte spare[spare_bytes];

  OutStructure() { clear(); }
  void clear() { std::memset(static_cast<void*>(&value), 0, sizeof value); }
};

} // namespace mqbridge::worker
