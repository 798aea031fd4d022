#include "rsp/packet/hex.h"

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// All bytes, over and over; `length` decides whether blocks, what is left of one, or both.
std::string bytes_of(std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i)
    bytes += static_cast<char>(i * 37 + i / 256);
  return bytes;
}

TEST(Hex, ComesBackAtEveryLengthAndInBothCases) {
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string bytes = bytes_of(length);
    for (const bool upper : {false, true}) {
      std::string digits = encode_hex(bytes);
      for (char& digit : digits)
        digit = upper ? static_cast<char>(std::toupper(digit)) : digit;
      std::string back(length, '?');
      ASSERT_TRUE(decode_hex(digits, std::as_writable_bytes(std::span(back)))) << length;
      ASSERT_EQ(back, bytes) << length;
    }
  }
}

TEST(Hex, WhatIsNoDigitIsFoundAtEveryPlace) {
  const std::string digits = encode_hex(bytes_of(75));
  std::vector<std::byte> into(75);
  for (std::size_t at = 0; at < digits.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = digits;
      damaged[at] = static_cast<char>(byte);
      ASSERT_EQ(decode_hex(damaged, into), std::isxdigit(byte) != 0) << at << ' ' << byte;
    }
  }
}

TEST(Hex, OfAnotherLengthIsNone) {
  std::vector<std::byte> into(40);
  for (const std::size_t digits : {0, 1, 79, 81, 82, 160})
    EXPECT_FALSE(decode_hex(std::string(digits, '0'), into)) << digits;
}

TEST(Hex, NothingIsWrittenBesideIts) {
  for (std::size_t length = 0; length < 100; ++length) {
    std::vector<std::byte> into(length + 32, std::byte{0x5a});
    ASSERT_TRUE(decode_hex(std::string(2 * length, '1'), std::span(into).first(length)));
    for (std::size_t at = 0; at < into.size(); ++at)
      ASSERT_EQ(into[at], std::byte(at < length ? 0x11 : 0x5a)) << length << ' ' << at;
  }
}

} // namespace
} // namespace mqbridge::rsp
