#pragma once

#include "host/memory/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

namespace mqbridge {

/// Memory made of pieces, with holes between them, that counts how it was asked. Bytes can be
/// changed underneath a cache.
class FakeMemory final : public Memory {
public:
  void put(TargetAddress address, std::vector<std::uint8_t> bytes) {
    pieces_[address.value] = std::move(bytes);
  }
  /// Bytes of a piece that was put.
  void change(TargetAddress address, const std::vector<std::uint8_t>& bytes) {
    auto& [first, piece] = *std::prev(pieces_.upper_bound(address.value));
    std::copy(bytes.begin(), bytes.end(),
              piece.begin() + static_cast<std::ptrdiff_t>(address.value - first));
  }
  /// An integer of `size` bytes as the target would write it.
  void put_integer(TargetAddress address, std::uint64_t value, std::size_t size, bool big_endian) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[big_endian ? size - 1 - i : i] = static_cast<std::uint8_t>(value >> (8 * i));
    put(address, std::move(bytes));
  }
  /// From now on the process had these bytes, and this memory lacks them.
  void leave_out(TargetAddress first, TargetAddress last) {
    left_out_first_ = first;
    left_out_last_ = last;
  }
  const Lack* lack(TargetAddress address) const override {
    return address >= left_out_first_ && address <= left_out_last_ ? &lack_of_core : nullptr;
  }
  void fail_with(Error error) { error_ = std::move(error); }

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    ++calls;
    ranges_asked += ranges.size();
    if (!error_.code.empty())
      return Failure(error_);
    for (auto& range : ranges) {
      range.read = 0;
      bytes_asked += range.into.size();
      while (range.read < range.into.size()) {
        const auto bytes = bytes_from(range.address.value + range.read);
        if (bytes.empty())
          break;
        const auto part = bytes.first(std::min(bytes.size(), range.into.size() - range.read));
        std::ranges::copy(part, range.into.begin() + static_cast<std::ptrdiff_t>(range.read));
        range.read += part.size();
      }
    }
    return {};
  }

  int calls = 0; ///< of read_ranges: round trips, were this a stub
  std::size_t ranges_asked = 0;
  std::uint64_t bytes_asked = 0;

private:
  /// To the end of their piece, to the next one, or to where bytes are left out.
  std::span<const std::byte> bytes_from(std::uint64_t address) const {
    if (lack({address}) != nullptr)
      return {};
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin())
      return {};
    --piece;
    const auto bytes = std::as_bytes(std::span(piece->second));
    const auto next = std::next(piece);
    const auto offset = address - piece->first;
    if (offset >= bytes.size())
      return {};
    auto last = piece->first + bytes.size();
    if (next != pieces_.end())
      last = std::min(last, next->first);
    if (left_out_first_ <= left_out_last_ && address < left_out_first_.value)
      last = std::min(last, left_out_first_.value);
    return bytes.subspan(offset, last - address);
  }

  std::map<std::uint64_t, std::vector<std::uint8_t>> pieces_;
  TargetAddress left_out_first_{1};
  TargetAddress left_out_last_{0};
  Error error_;
};

} // namespace mqbridge
