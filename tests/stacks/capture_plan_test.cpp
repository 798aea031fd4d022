// Where a stack ends, and who gets how much of what the link brings in time.

#include "host/stacks/capture_plan.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t kib = 1024;

Platform platform_of(int pointer_size) {
  Platform platform;
  platform.architecture = pointer_size == 8 ? "x86_64" : "i386";
  platform.set_data_model(pointer_size == 8 ? DataModel::lp64 : DataModel::ilp32);
  return platform;
}

class StackExtent : public testing::TestWithParam<int> {
protected:
  const Platform platform = platform_of(GetParam());
  /// A guard page, a stack, and something else far behind it.
  MemoryMap map{{{{0x10000}, {0x10fff}, false},
                 {{0x11000}, {0x1ffff}, true, true},
                 {{0x900000}, {0x900fff}, true, true}},
                true};
};

INSTANTIATE_TEST_SUITE_P(Words, StackExtent, testing::Values(4, 8));

TEST_P(StackExtent, GoesFromTheRedZoneToTheEndOfTheMapping) {
  const auto extent = stack_extent(0x12345, 0, map, platform);
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->first, 0x12345U - 128 - (0x12345 - 128) % 64);
  EXPECT_EQ(extent->end, 0x20000U);
  EXPECT_TRUE(extent->mapped);
}

TEST_P(StackExtent, BeginsNoEarlierThanTheMapping) {
  EXPECT_EQ(stack_extent(0x11010, 0, map, platform)->first, 0x11000U);
}

TEST_P(StackExtent, OfAThreadThatRanOverTheEndIsTheStackAboveIt) {
  for (const std::uint64_t pointer : {0x10ff0, 0x10010, 0xfff0})
    EXPECT_EQ(stack_extent(pointer, 0, map, platform)->first, 0x11000U) << pointer;
}

TEST_P(StackExtent, EndsWhereTheThreadIsDescribed) {
  EXPECT_EQ(stack_extent(0x1e000, 0x1f710, map, platform)->end, 0x1f740U);
  EXPECT_EQ(stack_extent(0x12000, 0x12800, map, platform)->end, 0x20000U) << "far from the end";
  EXPECT_EQ(stack_extent(0x1e000, 0x1d000, map, platform)->end, 0x20000U) << "below the stack";
}

// A 64-bit kernel gives a 32-bit program the very end of what it can address.
TEST_P(StackExtent, MayBeTheLastOfAllMappings) {
  const MemoryMap last = {{{{0xfff00000}, {0xffffdfff}, true, true}}, true};
  const auto extent = stack_extent(0xffffc000, 0, last, platform);
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->first, 0xffffc000U - 128);
  EXPECT_EQ(extent->end, 0xffffe000U);
}

TEST(StackExtentOfI386, GoesNoFurtherThanThereAreAddresses) {
  const auto extent = stack_extent(0xffffc000, 0, {}, platform_of(4));
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->end, std::uint64_t{1} << 32);
}

TEST_P(StackExtent, OfRegistersThatPointNowhereIsNone) {
  for (const std::uint64_t pointer :
       {std::uint64_t{0}, std::uint64_t{0x400000}, platform.last_address(),
        platform.last_address() - 100, ~std::uint64_t{0}})
    EXPECT_FALSE(stack_extent(pointer, 0, map, platform)) << pointer;
}

TEST_P(StackExtent, WithoutAWholeMapGoesOnUntilItIsUnreadable) {
  map.complete = false;
  const auto extent = stack_extent(0x400123, 0, map, platform);
  ASSERT_TRUE(extent);
  EXPECT_FALSE(extent->mapped);
  EXPECT_EQ(extent->first, 0x400080U);
  EXPECT_GE(extent->end - extent->first, most_of_stack_in_mpi);
}

TEST_P(StackExtent, WithoutAWholeMapOfTheFirstThreadEndsAtItsTop) {
  map.complete = false;
  map.ranges.push_back({{0xa00f00}, {0xa00ff0}, true, true, "[stack]"});
  const auto extent = stack_extent(0xa00000 - 64 * kib, 0, map, platform);
  ASSERT_TRUE(extent);
  EXPECT_TRUE(extent->mapped);
  EXPECT_EQ(extent->end, 0xa01000U);
}

TEST(CaptureBudget, IsWhatTheLinkBringsInTime) {
  using std::chrono::milliseconds;
  EXPECT_EQ(capture_budget({0.01, 100e6}, milliseconds(100)), 10'000'000U);
  EXPECT_EQ(capture_budget({0.01, 1e5}, milliseconds(100)), 10'000U) << "a slow one";
  EXPECT_EQ(capture_budget({0.01, 5e3}, milliseconds(100)), 4 * kib);
  EXPECT_EQ(capture_budget({0.01, 100e6}, milliseconds(-5)), 256 * kib);
  EXPECT_EQ(capture_budget({0.01, 1e12}, milliseconds(100)), 64 * kib * kib);
  EXPECT_EQ(capture_budget({}, milliseconds(100)), 64 * kib * kib) << "a core";
}

std::vector<std::uint64_t> bytes_of(const std::vector<StackShare>& shares) {
  std::vector<std::uint64_t> bytes;
  for (const auto& share : shares)
    bytes.push_back(share.bytes);
  return bytes;
}

TEST(StackShares, AreWholeWhereThereIsEnough) {
  std::vector<StackShare> shares = {{8192 * kib, true}, {3 * kib}, {8192 * kib}};
  share_at_first(shares, 1024 * kib);
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(32 * kib, 3 * kib, 32 * kib));
  shares[2].in_mpi = true;
  EXPECT_FALSE(share_rest(shares, 1024 * kib));
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(32 * kib, 3 * kib, 256 * kib));
}

TEST(StackShares, GoToThreadsInTheMpiFirstWhereThereIsLittle) {
  std::vector<StackShare> shares = {{64 * kib, true}, {64 * kib}, {64 * kib}};
  share_at_first(shares, 64 * kib);
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(4 * kib, 4 * kib, 4 * kib));
  shares[2].in_mpi = true;
  EXPECT_TRUE(share_rest(shares, 64 * kib));
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(4 * kib, 4 * kib, 56 * kib));
}

TEST(StackShares, OfTheFirstThreadComesBeforeThoseOfOthers) {
  std::vector<StackShare> shares = {{64 * kib}, {64 * kib, true}, {64 * kib}};
  share_at_first(shares, 8 * kib);
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(0, 4 * kib, 0));
  EXPECT_TRUE(share_rest(shares, 8 * kib));
  EXPECT_THAT(bytes_of(shares), testing::ElementsAre(0, 8 * kib, 0));
}

TEST(StackShares, NeverExceedTheBudget) {
  std::vector<StackShare> shares(1000, StackShare{64 * kib});
  share_at_first(shares, 100'000);
  shares[500].in_mpi = true;
  EXPECT_TRUE(share_rest(shares, 100'000));
  std::uint64_t sum = 0;
  for (const auto& share : shares)
    sum += share.bytes;
  EXPECT_LE(sum, 100'000U);
  EXPECT_GE(shares[500].bytes, 40'000U);
}

} // namespace
} // namespace mqbridge
