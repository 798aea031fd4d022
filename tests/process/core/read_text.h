#pragma once

#include "host/memory/memory.h"

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <string>

namespace mqbridge {

/// What can be read from `address` on, at most `size` bytes.
inline std::string read(Memory& memory, std::uint64_t address, std::size_t size) {
  std::string text(size, '?');
  const auto count = memory.read({address}, std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(count) << count.error().message;
  text.resize(count ? *count : 0);
  return text;
}

} // namespace mqbridge
