#pragma once

#include "host/memory/memory.h"
#include "host/mqs/walk.h"

#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// Memory in which a few bytes read as something else.
class DamagedMemory final : public Memory {
public:
  DamagedMemory(Memory& below, TargetAddress address, std::vector<std::byte> bytes)
      : below_(below), address_(address), bytes_(std::move(bytes)) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges)
      for (std::size_t i = 0; i < bytes_.size(); ++i) {
        const std::uint64_t at = address_.value + i - range.address.value; // wraps around if before
        if (at < range.read)
          range.into[at] = bytes_[i];
      }
    return {};
  }

private:
  Memory& below_;
  TargetAddress address_;
  std::vector<std::byte> bytes_;
};

/// Whatever the damage, the walk has ended by itself; if not well, the failure names the DLL and
/// what to do.
inline void expect_ended(const WalkResult& result, std::string_view dll, std::string_view damage) {
  if (!result.failure)
    return;
  EXPECT_THAT(result.failure->code, testing::StartsWith("dll.")) << damage;
  EXPECT_THAT(result.failure->message, testing::HasSubstr(std::string(dll))) << damage;
  EXPECT_THAT(result.failure->hint, testing::Not(testing::IsEmpty())) << damage;
}

} // namespace mqbridge
