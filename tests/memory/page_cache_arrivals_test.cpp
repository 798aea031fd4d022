// Pages that somebody works on while the burst that brings them goes on.

#include "host/memory/page_cache.h"
#include "rsp/limits.h"
#include "tests/support/fake_memory.h"

#include <array>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using rsp::limits::page;
constexpr std::size_t burst_pages = 8;                ///< of ArrivingMemory, between two markers
constexpr rsp::LinkEstimate near{50e-6, 160e6, 0};    ///< 2 pages in flight
constexpr rsp::LinkEstimate far_away{10e-3, 40e6, 0}; ///< 98
constexpr rsp::LinkEstimate serial_line{0, 11.5e3, 0};

/// Brings pages one after the other, some at a time, as a stub does.
class ArrivingMemory final : public Memory {
public:
  explicit ArrivingMemory(Memory& below) : below_(below) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    ++bursts;
    return below_.read_ranges(ranges);
  }
  Result<void> read_watched(std::span<MemoryRange> ranges, rsp::ReadWatcher& watcher) override {
    ++bursts;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (auto& range = ranges[i]; range.read < range.into.size();) {
        const auto part = std::min(
            {burst_pages * page, range.into.size() - range.read, watcher.wants(i, range.read)});
        if (part == 0)
          break;
        auto got = below_.read(range.address + range.read, range.into.subspan(range.read, part));
        if (!got)
          return forward(std::move(got));
        range.read += *got;
        if (*got > 0)
          watcher.came(i, range.read);
        watcher.look();
        if (*got < part)
          break;
      }
    return {};
  }

  int bursts = 0;

private:
  Memory& below_;
};

/// A layer that cannot tell what came before all has come.
TEST(ReadWatched, NoMoreIsReadThanIsWantedAtFirst) {
  class Wanting final : public rsp::ReadWatcher {
  public:
    void came(std::size_t, std::size_t) override {}
    void look() override {}
    std::size_t wants(std::size_t request, std::size_t) override {
      return request == 0 ? SIZE_MAX : page; // a page of each behind the first one
    }
  } watcher;
  FakeMemory fake;
  fake.put({0x1000}, std::vector<std::uint8_t>(9 * page, 7));
  std::vector<std::byte> bytes(9 * page);
  std::array<MemoryRange, 3> ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    ranges[i] = {{0x1000 + 3 * i * page}, std::span(bytes).subspan(3 * i * page, 3 * page)};
  ASSERT_TRUE(fake.read_watched(ranges, watcher));
  EXPECT_EQ(ranges[0].read, 3 * page);
  EXPECT_EQ(ranges[1].read, page);
  EXPECT_EQ(ranges[2].read, 0U);
  EXPECT_EQ(fake.bytes_asked, 4 * page);
}

class Arrivals : public testing::Test {
protected:
  void put(std::uint64_t first, std::uint64_t count) {
    for (auto number = first; number < first + count; ++number)
      fake.put({number * page}, std::vector<std::uint8_t>(page, static_cast<std::uint8_t>(number)));
  }
  void map(std::uint64_t first, std::uint64_t count) {
    known.complete = true;
    known.ranges.push_back({{first * page}, {(first + count) * page - 1}, true, true, {}});
    cache.set_map(&known);
  }
  void link_is(rsp::LinkEstimate link) {
    cache.set_link([link] { return link; });
  }
  void read(std::uint64_t number) {
    std::array<std::byte, 8> into{};
    ASSERT_EQ(cache.read({number * page}, into).value(), into.size());
    for (const auto byte : into)
      EXPECT_EQ(byte, static_cast<std::byte>(number));
  }
  /// A walk along memory, which looks at all that has come.
  void follow(std::uint64_t from) {
    next = from;
    store->set_onlooker([this] {
      for (; copies(next); ++next) {
      }
      return true;
    });
  }
  bool copies(std::uint64_t number) {
    std::array<std::byte, 8> into{};
    if (!store->copy(number * page + 16, into))
      return false;
    for (const auto byte : into)
      EXPECT_EQ(byte, static_cast<std::byte>(number));
    return true;
  }

  FakeMemory fake;
  ArrivingMemory arriving{fake};
  std::unique_ptr<PageStore> store = PageStore::create(4096 * page).value();
  PageCache cache{arriving, *store};
  MemoryMap known;
  std::uint64_t next = 0;
};

TEST_F(Arrivals, PagesAreThereBeforeTheBurstIsOver) {
  put(1000, 200);
  map(1000, 200);
  link_is(far_away);
  std::vector<std::uint64_t> seen;
  store->set_onlooker([&] {
    std::uint64_t there = 0;
    for (std::uint64_t i = 0; i < 200; ++i)
      there += store->find(1000 + i) ? 1 : 0;
    seen.push_back(there);
    return false;
  });
  read(1000);
  ASSERT_GT(seen.size(), 10U);
  for (std::size_t i = 0; i + 1 < seen.size(); ++i)
    EXPECT_EQ(seen[i], (i + 1) * burst_pages) << "what has come, and nothing else";
  EXPECT_EQ(arriving.bursts, 1);
}

TEST_F(Arrivals, ABurstGoesOnForAsLongAsTheWalkFollowsIt) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(near);
  follow(1000);
  int misses = 0;
  for (next = 1000; next < 4000; ++misses)
    read(next);
  EXPECT_LE(misses, 20) << "each costs the walk a round trip: all but the short bursts at first";
  EXPECT_EQ(cache.pages_read(), 3000U);
}

TEST_F(Arrivals, ABurstEndsWhereNobodyFollows) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(near);
  follow(1000);
  for (next = 1000; next < 1300;)
    read(next);
  const auto there = store->pages();
  store->set_onlooker([] { return true; }); // looks at nothing
  read(1000 + there);
  read(1001 + there);
  EXPECT_LE(cache.pages_read(), 2 * there) << "what was read in vain costs no more than the rest";
}

TEST_F(Arrivals, WhatIsReadOnTopIsAtMostWhatMayBeGuessed) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(near);
  follow(1000);
  const std::uint64_t end = 1500;
  store->set_onlooker([&] {
    for (; next < end && copies(next); ++next) {
    }
    return next < end;
  });
  for (next = 1000; next < end;)
    read(next);
  EXPECT_LE(cache.pages_read(), (end - 1000) + (end - 1000) / 2 + 64);
}

TEST_F(Arrivals, TheRoomForWhatWasNotReadIsFreeAgain) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(near);
  store->set_onlooker([] { return true; });
  for (const std::uint64_t number : {1000, 1001, 1002, 1500, 1501, 1502})
    read(number);
  EXPECT_EQ(store->room(), 4096 - cache.pages_read());
  for (std::uint64_t number = 1000; number < 1600; ++number)
    read(number);
}

TEST_F(Arrivals, NothingIsReadOnTopForNobody) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(near);
  for (const std::uint64_t number : {1000, 1001, 1002, 1003})
    read(number);
  EXPECT_LE(cache.pages_read(), 16U);
}

TEST_F(Arrivals, AHoleOnTheWayIsFoundByWhoAsksForIt) {
  put(1000, 500);
  put(1510, 500);
  map(1000, 1010);
  link_is(near);
  follow(1000);
  for (next = 1000; next < 1500;)
    read(next);
  std::array<std::byte, 8> into{};
  EXPECT_EQ(cache.read({1500 * page}, into).value(), 0U);
  read(1510);
}

/// Lines of pages that are there already are written again: nobody may look at them meanwhile.
TEST_F(Arrivals, NobodyLooksWhileWhatIsThereIsWrittenAgain) {
  put(1000, 3);
  map(1000, 3);
  link_is(serial_line);
  read(1000);
  ASSERT_LT(store->find(1000)->settled, PageStore::all_lines);
  int looks = 0;
  store->set_onlooker([&] { return ++looks, true; });
  link_is(far_away);
  std::array<std::byte, 8> into{};
  ASSERT_EQ(cache.read({1000 * page + 4000}, into).value(), into.size());
  EXPECT_EQ(looks, 0);
}

TEST_F(Arrivals, ALostConnectionLeavesWhatHasComeAndIsAnError) {
  put(1000, 3000);
  map(1000, 3000);
  link_is(far_away);
  store->set_onlooker([&] {
    if (store->find(1015))
      fake.fail_with({"connect.lost", "the stub has gone", ""});
    return true;
  });
  std::array<std::byte, 8> into{};
  const auto read = cache.read({1000 * page}, into);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "connect.lost");
  EXPECT_TRUE(copies(1015));
  EXPECT_FALSE(store->find(1016));
}

} // namespace
} // namespace mqbridge
