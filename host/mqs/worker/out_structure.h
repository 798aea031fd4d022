#pragma once

#include <cstddef>
#include <cstring>

namespace mqbridge::worker {

/// An out structure of a DLL's interface: zeroed before each call, and with room behind it, as some
/// write more than they are told to. What a DLL writes there nobody reads.
template <class Structure>
struct OutStructure {
  static constexpr std::size_t spare_bytes = 1024;

  Structure value;
  std::byte spare[spare_bytes];

  OutStructure() { clear(); }
  void clear() { std::memset(static_cast<void*>(&value), 0, sizeof value); }
};

} // namespace mqbridge::worker
