#pragma once

#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge::test {

/// Appends numbers in one byte order.
class ByteWriter {
public:
  explicit ByteWriter(ByteOrder order) : order_(order) {}

  ByteWriter& number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      const auto significance = order_ == ByteOrder::little ? i : width - 1 - i;
      bytes_ += static_cast<char>(value >> (8 * significance) & 0xff);
    }
    return *this;
  }
  ByteWriter& text(std::string_view text) {
    bytes_ += text;
    bytes_ += '\0';
    return *this;
  }
  ByteWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  ByteWriter& align(std::size_t to) {
    while (bytes_.size() % to != 0)
      bytes_ += '\0';
    return *this;
  }

  ByteOrder order() const { return order_; }
  std::size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

private:
  ByteOrder order_;
  std::string bytes_;
};

} // namespace mqbridge::test
