#pragma once

#include <cstdint>
#include <string>

namespace mqbridge::test {

/// What a process has in memory exactly as its file has it.
struct Segment {
  std::uint64_t address = 0;
  std::string bytes;
};

/// The largest segment that cannot be written, of a statically linked program of any class and byte
/// order. Empty if there is none.
Segment read_only_segment(const std::string& path);

} // namespace mqbridge::test
