#include "host/memory/reader.h"
#include "tests/support/fake_memory.h"

#include <gtest/gtest.h>
#include <ostream>

namespace mqbridge {
namespace {

constexpr TargetAddress base{0x1000};

struct Shape {
  int pointer_size;
  ByteOrder order;
};

void PrintTo(const Shape& each, std::ostream* out) {
  *out << (each.order == ByteOrder::big ? "be" : "le") << 8 * each.pointer_size;
}

struct ReaderOnPlatform : ::testing::TestWithParam<Shape> {
  FakeMemory fake;
  Platform platform;

  void SetUp() override {
    platform.pointer_size = GetParam().pointer_size;
    platform.byte_order = GetParam().order;
  }
  bool big() const { return platform.byte_order == ByteOrder::big; }
};

TEST_P(ReaderOnPlatform, IntegersOfEveryWidth) {
  for (std::size_t size = 1; size <= 8; ++size) {
    const auto value = 0x8182838485868788U >> (64 - 8 * size);
    fake.put_integer(base, value, size, big());
    auto plain = read_unsigned(fake, platform, base, size);
    ASSERT_TRUE(plain);
    EXPECT_EQ(*plain, value) << size;
    std::vector<std::byte> bytes(size);
    ASSERT_TRUE(read_exact(fake, base, bytes));
    const auto want = size == 8
                          ? static_cast<std::int64_t>(value)
                          : static_cast<std::int64_t>(value) - (std::int64_t{1} << (8 * size));
    EXPECT_EQ(decode_signed(bytes, platform.byte_order), want) << size;
  }
}

TEST_P(ReaderOnPlatform, OfWiderIntegersTheLow64Bits) {
  for (std::size_t size = 9; size <= 16; ++size) {
    std::vector<std::byte> bytes(size, std::byte{0x55});
    for (std::size_t i = 0; i < 8; ++i) // 0x8786858483828180 in the low 8 bytes
      bytes[big() ? size - 1 - i : i] = static_cast<std::byte>(0x80 + i);
    EXPECT_EQ(decode_unsigned(bytes, platform.byte_order), 0x8786858483828180U) << size;
    EXPECT_EQ(decode_signed(bytes, platform.byte_order),
              static_cast<std::int64_t>(0x8786858483828180U))
        << size;
  }
}

TEST_P(ReaderOnPlatform, PointersAtTheTargetsWidth) {
  fake.put_integer(base, 0xfedcba98U, static_cast<std::size_t>(platform.pointer_size), big());
  auto pointer = read_pointer(fake, platform, base);
  ASSERT_TRUE(pointer);
  EXPECT_EQ(pointer->value, 0xfedcba98U) << "pointers are never sign-extended";
}

INSTANTIATE_TEST_SUITE_P(Platforms, ReaderOnPlatform,
                         ::testing::Values(Shape{4, ByteOrder::little}, Shape{4, ByteOrder::big},
                                           Shape{8, ByteOrder::little}, Shape{8, ByteOrder::big}));

TEST(Reader, AShortReadNamesTheAddress) {
  FakeMemory fake;
  fake.put(base, {1, 2});
  auto value = read_unsigned(fake, Platform{}, base, 4);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, "memory.unreadable");
  EXPECT_NE(value.error().message.find("0x1000"), std::string::npos) << value.error().message;
}

TEST(Reader, WhatACoreLeftOutIsNotCalledCorrupt) {
  FakeMemory fake;
  fake.put(base, {1, 2, 3, 4});
  fake.leave_out(base + 2, base + 2);
  const auto value = read_unsigned(fake, Platform{}, base, 4);
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("memory that the core lacks"), std::string::npos);
  EXPECT_EQ(value.error().hint, lack_of_core.hint);
}

TEST(Reader, Strings) {
  FakeMemory fake;
  fake.put(base, {'a', 'b', 0, 'c'});
  EXPECT_EQ(*read_string(fake, base, 100), "ab");
  EXPECT_EQ(*read_string(fake, base, 1), "a") << "without an end it is cut at the limit";
  EXPECT_EQ(*read_string(fake, base + 2, 100), "");
  EXPECT_EQ(read_string(fake, base + 3, 100).error().code, "memory.unreadable");
  EXPECT_EQ(read_string(fake, base + 50, 100).error().code, "memory.unreadable");
}

} // namespace
} // namespace mqbridge
