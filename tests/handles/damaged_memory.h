#pragma once

#include "host/memory/memory.h"

#include <array>
#include <bit>
#include <cstdint>

namespace mqbridge {

/// One word in `every` reads as garbage: always the same ones, by the seed. As debuggers read it,
/// whole words of it at their own addresses.
class GarbageWords final : public Memory {
public:
  GarbageWords(Memory& below, std::uint64_t seed, std::uint64_t every)
      : below_(below), seed_(seed), every_(every) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges)
      for (std::size_t i = 0; i < range.read; ++i) {
        const std::uint64_t at = range.address.value + i;
        const std::uint64_t chance = mixed(at / 4 ^ seed_);
        if (chance % every_ == 0)
          range.into[i] = garbage(chance)[at % 4];
      }
    return {};
  }

private:
  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }
  static std::array<std::byte, 4> garbage(std::uint64_t chance) {
    constexpr std::array<std::uint32_t, 6> likely = {0, 1, 2, 0xffffffff, 0x7fffffff, 0x10000};
    const std::uint64_t which = chance / 1024 % 8;
    return std::bit_cast<std::array<std::byte, 4>>(
        which < likely.size() ? likely[which] : static_cast<std::uint32_t>(chance >> 32));
  }

  Memory& below_;
  std::uint64_t seed_, every_;
};

/// Memory in which one value reads as another one.
template <class T>
class OverwrittenMemory final : public Memory {
public:
  OverwrittenMemory(Memory& below, std::uint64_t at, const T& value)
      : below_(below), at_(at), bytes_(std::bit_cast<std::array<std::byte, sizeof(T)>>(value)) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges)
      for (std::size_t i = 0; i < range.read; ++i)
        if (const std::uint64_t from = range.address.value + i - at_; from < bytes_.size())
          range.into[i] = bytes_[from];
    return {};
  }

private:
  Memory& below_;
  std::uint64_t at_;
  std::array<std::byte, sizeof(T)> bytes_;
};

/// Memory with a hole.
class HoledMemory final : public Memory {
public:
  HoledMemory(Memory& below, std::uint64_t from, std::uint64_t size)
      : below_(below), from_(from), size_(size) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges) {
      const std::uint64_t start = range.address.value;
      if (start < from_ + size_ && start + range.read > from_)
        range.read = start < from_ ? from_ - start : 0;
    }
    return {};
  }

private:
  Memory& below_;
  std::uint64_t from_, size_;
};

} // namespace mqbridge
