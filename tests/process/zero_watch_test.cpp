// A stub that answers failed reads with zeros: what is doubtful, and what is not.

#include "host/process/live/zero_watch.h"
#include "tests/support/fake_memory.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

struct ZeroWatchTest : ::testing::Test {
  FakeMemory below;
  ZeroWatch watch{below};
  std::vector<std::byte> into = std::vector<std::byte>(ZeroWatch::shortest);

  void read(std::uint64_t address) { ASSERT_TRUE(watch.read({address}, into)); }
};

TEST_F(ZeroWatchTest, ZerosWhereNothingIsLoadedAreDoubtful) {
  below.put({0x1000}, std::vector<std::uint8_t>(256));
  read(0x1040);
  read(0x1080);
  EXPECT_EQ(watch.doubtful(), 2U);
  EXPECT_EQ(watch.first_doubtful(), TargetAddress{0x1040});
}

TEST_F(ZeroWatchTest, ZerosWhereAnImageIsLoadedAreZeros) {
  below.put({0x1000}, std::vector<std::uint8_t>(256));
  watch.expect_memory({{0x1000}, {0x103f}});
  watch.expect_memory({{0x107f}, {0x1080}});
  read(0x1000);
  read(0x1040); // its last byte
  read(0x1080); // its first byte
  EXPECT_EQ(watch.doubtful(), 0U);
  read(0x10c0);
  EXPECT_EQ(watch.doubtful(), 1U);
}

TEST_F(ZeroWatchTest, OneBitThatIsSetIsMemory) {
  std::vector<std::uint8_t> bytes(ZeroWatch::shortest);
  bytes.back() = 1;
  below.put({0x1000}, bytes);
  read(0x1000);
  EXPECT_EQ(watch.doubtful(), 0U);
}

TEST_F(ZeroWatchTest, WhatIsShortOrNotThereIsNotJudged) {
  below.put({0x1000}, std::vector<std::uint8_t>(ZeroWatch::shortest - 1));
  read(0x1000);
  read(0x9000);
  EXPECT_EQ(watch.doubtful(), 0U);
  EXPECT_EQ(watch.first_doubtful(), std::nullopt);
}

TEST_F(ZeroWatchTest, ALostConnectionIsPassedOn) {
  below.fail_with({"connect.lost", "gone", ""});
  const auto done = watch.read({0x1000}, into);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "connect.lost");
}

TEST(AtPointerWidth, OnlySignExtendedAddressesOf32BitTargetsChange) {
  struct Case {
    std::uint64_t value;
    int pointer_size;
    std::uint64_t address;
  };
  for (const auto& [value, pointer_size, address] :
       {Case{0xffffffff80000000, 4, 0x80000000}, Case{0xfffffffffffffff8, 4, 0xfffffff8},
        Case{0x7fffffff, 4, 0x7fffffff}, Case{0x80000000, 4, 0x80000000},
        // No address of a 32-bit target: left as it is, so that reading there fails.
        Case{0xffffffff7fffffff, 4, 0xffffffff7fffffff}, Case{0x100000000, 4, 0x100000000},
        Case{0xffffffff80000000, 8, 0xffffffff80000000}})
    EXPECT_EQ(at_pointer_width(value, pointer_size).value, address) << std::hex << value;
}

} // namespace
} // namespace mqbridge
