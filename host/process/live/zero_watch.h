#pragma once

#include "host/memory/memory.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// A layer above a stub that answers failed reads with zeros
/// (rsp::Features::unreadable_reads_zero). It notices answers that are all zeros in places where no
/// loaded file has memory: such a zero may be a failed read, and no NULL pointer.
class ZeroWatch final : public Memory {
public:
  /// Addresses from `first` to `last`, both included.
  struct Extent {
    TargetAddress first;
    TargetAddress last;
  };
  /// Only ranges of at least this length are judged: in a short one zeros are usual.
  static constexpr std::size_t shortest = 64;

  /// `below` is not owned and outlives this.
  explicit ZeroWatch(Memory& below) : below_(below) {}

  void expect_memory(Extent extent) { expected_.push_back(extent); }
  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  Result<void> read_watched(std::span<MemoryRange> ranges, rsp::ReadWatcher& watcher) override;

  std::uint64_t doubtful() const { return doubtful_; } ///< answers of zeros alone, outside
  std::optional<TargetAddress> first_doubtful() const { return first_doubtful_; }

private:
  void judge(std::span<const MemoryRange> ranges);
  bool expected(const MemoryRange& range) const;

  Memory& below_;
  std::vector<Extent> expected_;
  std::uint64_t doubtful_ = 0;
  std::optional<TargetAddress> first_doubtful_;
};

} // namespace mqbridge
