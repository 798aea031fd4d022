#include "host/process/first_look.h"
#include "tests/support/fake_memory.h"

#include <array>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

std::vector<std::uint8_t> counting(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

struct FirstLookTest : ::testing::Test {
  FakeMemory below;
  FirstLook look{below};

  void SetUp() override {
    below.put({0x1000}, counting(256));
    below.put({0x5000}, counting(256));
  }
};

TEST_F(FirstLookTest, AnswersFromWhatWasReadInOneCall) {
  ASSERT_TRUE(look.take({{{0x1000}, 128}, {{0x5000}, 128}, {{0x1000}, 128}}));
  EXPECT_EQ(below.calls, 1);
  EXPECT_EQ(below.ranges_asked, 2U) << "the same piece is asked for once";
  std::array<std::byte, 8> one{};
  std::array<std::byte, 8> other{};
  std::array ranges{MemoryRange{{0x1010}, one}, MemoryRange{{0x5078}, other}};
  ASSERT_TRUE(look.read_ranges(ranges));
  EXPECT_EQ(below.calls, 1);
  EXPECT_EQ(ranges[0].read, 8U);
  EXPECT_EQ(one[0], std::byte{0x10});
  EXPECT_EQ(other[7], std::byte{0x7f});
}

TEST_F(FirstLookTest, AsksForWhatItDoesNotHaveAlone) {
  ASSERT_TRUE(look.take({{{0x1000}, 128}}));
  std::array<std::byte, 8> here{};
  std::array<std::byte, 8> beyond{};
  std::array ranges{MemoryRange{{0x1000}, here}, MemoryRange{{0x107c}, beyond}};
  ASSERT_TRUE(look.read_ranges(ranges));
  EXPECT_EQ(below.calls, 2);
  EXPECT_EQ(below.ranges_asked, 2U);
  EXPECT_EQ(ranges[1].read, 8U);
  EXPECT_EQ(beyond[7], std::byte{0x83});
}

TEST_F(FirstLookTest, HolesAreShortReadsAndNoErrors) {
  ASSERT_TRUE(look.take({{{0x10f0}, 128}, {{0x9000}, 64}}));
  std::array<std::byte, 32> bytes{};
  EXPECT_EQ(look.read({0x10f0}, bytes).value(), 16U);
  EXPECT_EQ(look.read({0x9000}, bytes).value(), 0U);
}

TEST_F(FirstLookTest, ForgetsWhatItHadBefore) {
  ASSERT_TRUE(look.take({{{0x1000}, 128}}));
  ASSERT_TRUE(look.take({{{0x5000}, 128}}));
  std::array<std::byte, 8> bytes{};
  ASSERT_TRUE(look.read({0x1000}, bytes));
  EXPECT_EQ(below.calls, 3);
}

TEST_F(FirstLookTest, ALostConnectionIsAnError) {
  below.fail_with({"stub.closed", "gone", ""});
  EXPECT_EQ(look.take({{{0x1000}, 128}}).error().code, "stub.closed");
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(look.read({0x1000}, bytes).error().code, "stub.closed");
}

} // namespace
} // namespace mqbridge
