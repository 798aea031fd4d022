// What is captured is what memory has, once, in one call.

#include "host/stacks/captured_pages.h"
#include "tests/support/fake_memory.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t page = PageStore::page_size;

std::vector<std::uint8_t> pattern(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

class Captured : public testing::Test {
protected:
  Captured() { memory.put({0x10000}, bytes); }
  std::vector<std::uint8_t> copy(std::uint64_t address, std::size_t size) const {
    std::vector<std::uint8_t> into(size);
    return pages->copy(address, std::as_writable_bytes(std::span(into)))
               ? into
               : std::vector<std::uint8_t>();
  }
  std::vector<std::uint8_t> expected(std::size_t from, std::size_t size) const {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(from);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
  }

  const std::vector<std::uint8_t> bytes = pattern(4 * page);
  FakeMemory memory;
  Result<CapturedPages> pages = CapturedPages::create(64 * page);
};

TEST_F(Captured, RangesComeInOneCallAndOnlyTheirLines) {
  ASSERT_TRUE(pages->read(
      memory, std::vector<CaptureExtent>{{0x10040, 0x11080, true}, {0x12f00, 0x14000, true}}));
  EXPECT_EQ(memory.calls, 1);
  EXPECT_EQ(memory.ranges_asked, 2U);
  EXPECT_EQ(memory.bytes_asked, 0x1040U + 0x1100U);
  EXPECT_EQ(copy(0x10040, 0x1040), expected(0x40, 0x1040));
  EXPECT_EQ(copy(0x12f00, 0x1100), expected(0x2f00, 0x1100));
  EXPECT_EQ(copy(0x10000, 1), std::vector<std::uint8_t>()) << "never read";
  EXPECT_EQ(pages->readable_to(0x10040, 0x20000), 0x11080U);
  EXPECT_EQ(pages->readable_to(0x10000, 0x20000), 0x10000U);
}

TEST_F(Captured, WhatIsThereIsNotReadAgain) {
  ASSERT_TRUE(pages->read(memory, std::vector<CaptureExtent>{{0x10040, 0x10800, true}}));
  ASSERT_TRUE(pages->read(memory, std::vector<CaptureExtent>{{0x10040, 0x12000, true}}));
  EXPECT_EQ(memory.bytes_asked, 0x12000U - 0x10040U);
  EXPECT_EQ(copy(0x10040, 0x1fc0), expected(0x40, 0x1fc0));
  ASSERT_TRUE(pages->read(memory, std::vector<CaptureExtent>{{0x10040, 0x12000, true}}));
  EXPECT_EQ(memory.calls, 2) << "nothing is missing";
}

TEST_F(Captured, StacksThatShareAPageHaveBothTheirLines) {
  ASSERT_TRUE(pages->read(
      memory, std::vector<CaptureExtent>{{0x10040, 0x10100, true}, {0x10400, 0x10500, true}}));
  EXPECT_EQ(copy(0x10040, 0xc0), expected(0x40, 0xc0));
  EXPECT_EQ(copy(0x10400, 0x100), expected(0x400, 0x100));
  EXPECT_EQ(copy(0x10100, 1), std::vector<std::uint8_t>());
}

TEST_F(Captured, AHoleEndsWhatIsThereAndCostsNoOther) {
  ASSERT_TRUE(pages->read(
      memory, std::vector<CaptureExtent>{{0x13f00, 0x16000, false}, {0x10000, 0x10040, true}}));
  EXPECT_EQ(pages->readable_to(0x13f00, 0x16000), 0x14000U);
  EXPECT_EQ(copy(0x13f00, 0x100), expected(0x3f00, 0x100));
  EXPECT_EQ(copy(0x10000, 0x40), expected(0, 0x40));
  EXPECT_EQ(copy(0x14000, 1), std::vector<std::uint8_t>());
}

TEST_F(Captured, WithoutRoomTheRestStaysUnknown) {
  auto small = CapturedPages::create(page);
  ASSERT_TRUE(small);
  ASSERT_TRUE(small->read(memory, std::vector<CaptureExtent>{{0x10000, 0x12000, true}}));
  EXPECT_EQ(small->readable_to(0x10000, 0x12000), 0x11000U);
}

TEST_F(Captured, ALostWayIsAnError) {
  memory.fail_with({"stub.closed", "gone", ""});
  const auto read = pages->read(memory, std::vector<CaptureExtent>{{0x10000, 0x10040, true}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "stub.closed");
}

} // namespace
} // namespace mqbridge
