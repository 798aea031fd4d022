#include "host/memory/page_cache.h"
#include "rsp/limits.h"
#include "tests/support/fake_memory.h"

#include <gtest/gtest.h>
#include <numeric>

namespace mqbridge {
namespace {

using rsp::limits::page;

std::vector<std::uint8_t> counting(std::size_t size, std::uint8_t first = 0) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

struct PageCacheTest : ::testing::Test {
  FakeMemory fake;
  std::unique_ptr<PageStore> store = PageStore::create().value();
  PageCache cache{fake, *store};

  std::vector<int> read(std::uint64_t address, std::size_t size) {
    std::vector<std::byte> into(size);
    auto got = cache.read(TargetAddress{address}, into);
    EXPECT_TRUE(got) << got.error().message;
    std::vector<int> out;
    for (std::size_t i = 0; i < *got; ++i)
      out.push_back(std::to_integer<int>(into[i]));
    return out;
  }
};

TEST_F(PageCacheTest, HitsAreServedWithoutAskingBelowUntilCleared) {
  fake.put({10 * page}, counting(2 * page));
  EXPECT_EQ(read(10 * page + 3, 2), (std::vector{3, 4}));
  fake.put({10 * page}, counting(2 * page, 100));
  EXPECT_EQ(read(10 * page + 3, 2), (std::vector{3, 4}))
      << "a hit must not see the change underneath";
  EXPECT_EQ(fake.calls, 1);
  cache.clear();
  EXPECT_EQ(read(10 * page + 3, 2), (std::vector{103, 104}))
      << "after clear() the change must be seen";
}

TEST_F(PageCacheTest, AReadAcrossPagesAsksForBothInOneCall) {
  fake.put({10 * page}, counting(2 * page));
  EXPECT_EQ(read(11 * page - 1, 2), (std::vector{255, 0}));
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(fake.ranges_asked, 2U);
}

TEST_F(PageCacheTest, ManyRangesInOnePageAskForItOnce) {
  fake.put({10 * page}, counting(page));
  std::array<std::byte, 4> into{};
  std::vector<MemoryRange> ranges;
  for (std::uint64_t i = 0; i < 4; ++i)
    ranges.push_back({{10 * page + 64 * i}, std::span(into).subspan(i, 1)});
  ASSERT_TRUE(cache.read_ranges(ranges));
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(fake.ranges_asked, 1U);
  EXPECT_EQ(std::to_integer<int>(into[2]), 128);
}

TEST_F(PageCacheTest, AHoleEndsARangeAndIsRemembered) {
  fake.put({10 * page}, counting(page));
  fake.put({12 * page}, counting(page));
  EXPECT_EQ(read(11 * page - 2, 100), (std::vector{254, 255}));
  EXPECT_EQ(read(11 * page - 2, static_cast<std::size_t>(page) + 10).size(), 2U)
      << "the far side must not be joined on";
  EXPECT_TRUE(read(11 * page + 5, 1).empty());
  const auto calls = fake.calls;
  EXPECT_TRUE(read(11 * page + 6, 1).empty());
  EXPECT_EQ(fake.calls, calls) << "a known hole is not asked for again";
}

TEST_F(PageCacheTest, APartlyReadablePageKeepsItsReadableStart) {
  fake.put({10 * page}, counting(100));
  EXPECT_EQ(read(10 * page + 98, 10), (std::vector{98, 99}));
  EXPECT_TRUE(read(10 * page + 100, 1).empty());
}

TEST_F(PageCacheTest, TheTopOfTheAddressSpaceDoesNotWrap) {
  fake.put({UINT64_MAX - page + 1}, counting(page));
  fake.put({0}, counting(page));
  EXPECT_EQ(read(UINT64_MAX, 16), (std::vector{255}));
}

TEST_F(PageCacheTest, AtItsBoundACallStillGetsAllItsPages) {
  const auto three = PageStore::create(3 * page).value();
  PageCache small(fake, *three);
  fake.put({10 * page}, counting(8 * page));
  std::vector<std::byte> into(3 * page);
  for (std::uint64_t start = 0; start < 5; ++start) {
    auto got = small.read({(10 + start) * page}, into);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, into.size()) << "from page " << start;
  }
}

TEST_F(PageCacheTest, ALostConnectionIsAnErrorNotAHole) {
  fake.fail_with({"stub.closed", "gone"});
  std::array<std::byte, 1> into{};
  auto got = cache.read({10 * page}, into);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, "stub.closed");
  fake.fail_with({});
  fake.put({10 * page}, counting(page, 7));
  EXPECT_EQ(read(10 * page, 1), (std::vector{7})) << "and leaves no hole behind";
}

} // namespace
} // namespace mqbridge
