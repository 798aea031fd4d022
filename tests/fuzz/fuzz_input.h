#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

namespace mqbridge::test {

/// What a fuzz target was given, taken apart from its front. Past the end there are zeros and empty
/// pieces.
class FuzzInput {
public:
  FuzzInput(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::span<const std::byte> rest_bytes() const { return std::as_bytes(std::span(rest_)); }

  std::string_view take(std::size_t size) {
    const auto piece = rest_.substr(0, size);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  /// An integer of `size` bytes, the lowest one first.
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char byte : take(size)) {
      value |= std::uint64_t{static_cast<std::uint8_t>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  /// Up to `separator`, which is taken, too.
  std::string_view take_until(char separator) {
    const auto piece = rest_.substr(0, rest_.find(separator));
    rest_.remove_prefix(std::min(rest_.size(), piece.size() + 1));
    return piece;
  }

private:
  std::string_view rest_;
};

/// What must hold, whatever the input is.
inline void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace mqbridge::test
