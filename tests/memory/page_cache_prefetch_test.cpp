#include "host/memory/page_cache.h"
#include "rsp/limits.h"
#include "tests/support/fake_memory.h"

#include <array>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using rsp::limits::page;
constexpr std::uint64_t line_bytes = PageStore::line_size;
constexpr rsp::LinkEstimate distant{10e-3, 40e6, 0}; ///< 98 pages in flight
constexpr rsp::LinkEstimate slow_line{0, 11.5e3, 0};

class Prefetch : public testing::Test {
protected:
  /// Pages whose every byte is the page's number.
  void put(std::uint64_t first, std::uint64_t count) {
    for (auto number = first; number < first + count; ++number)
      fake.put({number * page}, std::vector<std::uint8_t>(page, static_cast<std::uint8_t>(number)));
  }
  void map(std::uint64_t first, std::uint64_t count, std::string name = {}) {
    known.complete = true;
    known.ranges.push_back(
        {{first * page}, {(first + count) * page - 1}, true, true, std::move(name)});
    cache.set_map(&known);
  }
  void link_is(rsp::LinkEstimate link) {
    cache.set_link([link] { return link; });
  }

  /// Reads, and checks every byte that came.
  std::size_t read(std::uint64_t address, std::size_t size) {
    std::vector<std::byte> into(size);
    const auto got = cache.read({address}, into);
    EXPECT_TRUE(got) << got.error().message;
    for (std::size_t i = 0; got && i < *got; ++i)
      EXPECT_EQ(into[i], static_cast<std::byte>((address + i) / page)) << address + i;
    return got ? *got : 0;
  }

  bool has(std::uint64_t number) const { return store->find(number).has_value(); }

  FakeMemory fake;
  std::unique_ptr<PageStore> store = PageStore::create(256 * page).value();
  PageCache cache{fake, *store};
  MemoryMap known;
};

TEST_F(Prefetch, AMissBringsWhatTheRoundTripCosts) {
  put(1000, 200);
  map(1000, 200);
  link_is(distant);
  EXPECT_EQ(read(1000 * page, 8), 8U);
  EXPECT_EQ(fake.calls, 1);
  EXPECT_TRUE(has(1098));
  EXPECT_FALSE(has(1099));
  EXPECT_EQ(read(1040 * page, 8), 8U);
  EXPECT_EQ(fake.calls, 1) << "that was there already";
  EXPECT_EQ(cache.statistics().bytes_read, 99 * page);
}

TEST_F(Prefetch, PageModeReadsWhatWasAskedForAndNothingElse) {
  put(1000, 200);
  PageCache plain(fake, *store, {CacheMode::page});
  map(1000, 200);
  plain.set_map(&known);
  plain.set_link([] { return distant; });
  plain.set_platform({});
  plain.set_replay({{1000, 200}});
  ASSERT_TRUE(plain.preload({{1000, 200}}));
  std::array<std::byte, 8> into{};
  ASSERT_TRUE(plain.read({1100 * page}, into));
  EXPECT_EQ(plain.pages_read(), 1U);
  EXPECT_EQ(store->pages(), 1U);
}

TEST_F(Prefetch, NothingIsReadAheadOfAnUnknownLink) {
  put(1000, 200);
  map(1000, 200);
  EXPECT_EQ(read(1000 * page, 8), 8U);
  EXPECT_EQ(cache.pages_read(), 1U);
}

TEST_F(Prefetch, NeverBeyondTheMapping) {
  put(990, 30);
  map(1000, 10);
  map(1010, 10, "/dev/nvidia0");
  link_is(distant);
  read(1005 * page, 8);
  EXPECT_EQ(store->pages(), 10U);
  EXPECT_FALSE(has(999));
  EXPECT_FALSE(has(1010));
}

/// They come from files, and what is mapped may have changed since.
TEST_F(Prefetch, HintsNeitherReachDevicesNorWhatIsNotMapped) {
  put(990, 60);
  map(1000, 4);
  map(1010, 4, "/sys/bus/pci/devices/0000:00:02.0/resource0");
  link_is({1e-4, 10e6, 0}); // nothing is guessed
  ASSERT_TRUE(cache.preload({{1001, 1}, {1010, 1}, {1020, 1}}));
  EXPECT_TRUE(has(1001));
  cache.set_replay({{1003, 1}, {1011, 1}, {1021, 1}});
  EXPECT_EQ(read(1000 * page, 8), 8U);
  EXPECT_TRUE(has(1003));
  EXPECT_EQ(read(1012 * page, 8), 8U) << "what is asked for is read";
  for (const std::uint64_t number : {1010, 1011, 1020, 1021})
    EXPECT_FALSE(has(number)) << number;
}

/// Small ones have memory by the KiB.
TEST_F(Prefetch, OfAMachineMemoryThatBeginsInAPageIsRead) {
  fake.put({1000 * page + 1024}, std::vector<std::uint8_t>(3072, 7));
  for (const auto link : {distant, slow_line}) {
    PageCache machine(fake, *store, {.explore = false});
    machine.clear();
    machine.set_link([link] { return link; });
    std::array<std::byte, 8> into{};
    EXPECT_EQ(machine.read({1000 * page}, into).value(), 0U);
    EXPECT_EQ(machine.read({1000 * page + 1020}, into).value(), 0U);
    for (const std::uint64_t at : {1024, 1500, 4088}) {
      into = {};
      EXPECT_EQ(machine.read({1000 * page + at}, into).value(), 8U) << at;
      EXPECT_EQ(into[7], std::byte{7});
    }
  }
}

TEST_F(Prefetch, OfAMachineOnlyWhatTheMapNamesIsReadAhead) {
  put(1000, 400);
  PageCache machine(fake, *store, {.explore = false});
  machine.set_link([] { return distant; });
  map(1000, 4);
  known.complete = false;
  machine.set_map(&known);
  std::array<std::byte, 8> into{};
  for (const std::uint64_t number : {1001, 1100, 1102, 1104})
    ASSERT_TRUE(machine.read({number * page}, into));
  EXPECT_EQ(store->pages(), 4U + 3U);
}

TEST_F(Prefetch, PagesThatWordsPointToComeBeforeNeighbours) {
  std::vector<std::uint8_t> words(page);
  for (std::size_t i = 0; i < 8; ++i)
    words[8 + i] = static_cast<std::uint8_t>((5300 * page + 16) >> (8 * i));
  fake.put({1000 * page}, words);
  put(5000, 400);
  put(9000, 400);
  map(1000, 1);
  map(5000, 400);
  map(9000, 400);
  link_is({1e-3, 20e6, 0}); // 4 pages in flight
  cache.set_platform({});
  std::array<std::byte, 8> into{};
  ASSERT_TRUE(cache.read({1000 * page + 64}, into));
  EXPECT_EQ(read(9100 * page, 8), 8U);
  EXPECT_TRUE(has(5300));
  EXPECT_FALSE(has(5301));
}

/// The map is as old as its reading, and a stub may refuse what the map allows.
TEST_F(Prefetch, AHoleBesideWhatIsAskedForChangesNothing) {
  put(1000, 4);
  put(1006, 20);
  map(1000, 26);
  link_is(distant);
  EXPECT_EQ(read(1000 * page, 8), 8U);
  EXPECT_EQ(read(1003 * page, 2 * page), page) << "the hole is where it is";
  EXPECT_EQ(read(1004 * page, 8), 0U);
  EXPECT_EQ(read(1005 * page, 8), 0U);
  EXPECT_EQ(read(1006 * page, 8), 8U) << "and what is behind it can be read";
}

TEST_F(Prefetch, WhatIsAskedForBehindAHoleOfTheSameBurstIsRead) {
  put(1000, 2);
  put(1003, 2);
  map(1000, 5);
  link_is(distant);
  std::array<std::byte, 4> into{};
  std::vector<MemoryRange> ranges;
  for (const std::uint64_t number : {1000, 1002, 1004})
    ranges.push_back({{number * page}, into});
  ASSERT_TRUE(cache.read_ranges(ranges));
  EXPECT_EQ(ranges[0].read, 4U);
  EXPECT_EQ(ranges[1].read, 0U);
  EXPECT_EQ(ranges[2].read, 4U);
}

TEST_F(Prefetch, ALostConnectionLeavesNothingBehind) {
  put(1000, 10);
  map(1000, 10);
  link_is(distant);
  fake.fail_with({"stub.closed", "gone"});
  std::array<std::byte, 8> into{};
  EXPECT_EQ(cache.read({1000 * page}, into).error().code, "stub.closed");
  EXPECT_EQ(cache.preload({{1000, 5}}).error().code, "stub.closed");
  fake.fail_with({});
  EXPECT_EQ(read(1000 * page, 8), 8U);
}

TEST_F(Prefetch, PreloadIsOneBurstAndToleratesHoles) {
  put(1000, 3);
  put(2000, 3);
  link_is(distant);
  ASSERT_TRUE(cache.preload({{1000, 5}, {2000, 3}, {3000, 1}}));
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(read(1002 * page, 8), 8U);
  EXPECT_EQ(read(2001 * page, 8), 8U);
  EXPECT_EQ(read(3000 * page, 8), 0U);
  EXPECT_EQ(fake.calls, 1);
  ASSERT_TRUE(cache.preload({{1000, 5}, {2000, 3}}));
  EXPECT_EQ(fake.calls, 1) << "all of it is there";
}

TEST_F(Prefetch, PagesOfEarlierDumpsComeWithTheFirstMissOfTheirMapping) {
  put(1000, 2000);
  put(8000, 10);
  map(1000, 2000);
  map(8000, 10);
  link_is({1e-4, 100e6, 0}); // 2 pages in flight
  cache.set_replay({{1500, 3}, {2500, 2}, {8005, 1}});
  EXPECT_EQ(read(1000 * page, 8), 8U);
  for (const std::uint64_t number : {1500, 1502, 2501})
    EXPECT_TRUE(has(number)) << number;
  EXPECT_FALSE(has(8005));
  EXPECT_EQ(read(8000 * page, 8), 8U);
  EXPECT_TRUE(has(8005));
  EXPECT_EQ(fake.calls, 2);
}

TEST_F(Prefetch, AFullStoreStartsAnewAndStaysExact) {
  put(1000, 2000);
  map(1000, 2000);
  link_is(distant);
  for (std::uint64_t number = 1000; number < 1800; ++number)
    ASSERT_EQ(read(number * page + 5, 8), 8U) << number;
  EXPECT_LE(store->pages(), 256U);
}

TEST_F(Prefetch, MoreThanTheStoreCanHoldIsReadPastIt) {
  put(1000, 300);
  EXPECT_EQ(read(1000 * page + 100, 290 * page), 290 * page);
}

TEST_F(Prefetch, SlowLinksReadLines) {
  put(1000, 2);
  map(1000, 2);
  link_is(slow_line);
  EXPECT_EQ(read(1000 * page + 10 * line_bytes + 5, 4), 4U);
  EXPECT_EQ(cache.statistics().bytes_read, line_bytes);
  EXPECT_EQ(read(1000 * page + 10 * line_bytes + 40, 8), 8U);
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(read(1001 * page - 2, 4), 4U) << "across pages";
  EXPECT_EQ(fake.calls, 2);
  EXPECT_EQ(cache.statistics().bytes_read, 3 * line_bytes);
  EXPECT_EQ(read(1002 * page - 2, 4), 2U);
  const auto calls = fake.calls;
  EXPECT_EQ(read(1002 * page + 10, 4), 0U);
  EXPECT_EQ(fake.calls, calls) << "a hole is remembered, of lines too";
}

TEST_F(Prefetch, ALinkThatTurnsOutToBeFastGoesOnWithPages) {
  put(1000, 2);
  map(1000, 2);
  link_is(slow_line);
  read(1000 * page + 10 * line_bytes, 4);
  link_is(distant);
  EXPECT_EQ(read(1000 * page, 2 * page), 2 * page);
  EXPECT_EQ(store->find(1000)->readable, PageStore::all_lines);
  EXPECT_EQ(fake.calls, 2) << "what is behind a page that is there in part comes with it";
}

TEST_F(Prefetch, ALineThatCanBeReadInPartIsReadEachTime) {
  fake.put({1000 * page}, std::vector<std::uint8_t>(100, 1000 % 256));
  link_is(slow_line);
  EXPECT_EQ(read(1000 * page + 80, 8), 8U);
  EXPECT_EQ(read(1000 * page + 98, 10), 2U);
  EXPECT_EQ(read(1000 * page + 110, 10), 0U);
  EXPECT_EQ(read(1000 * page + 60, 100), 40U);
}

TEST_F(Prefetch, WhatSomebodyLookedAtIsTouchedWhatCameBesideIsNot) {
  put(1000, 200);
  map(1000, 200);
  link_is(distant);
  read(1000 * page, 8);
  read(1010 * page - 4, 8);
  EXPECT_EQ(store->touched(), (PageRuns{{1000, 1}, {1009, 2}}));
}

} // namespace
} // namespace mqbridge
