// Walks over a page store: the DLL finds there what the parent has read, on every platform, however
// the pages came there, and asks for the rest.

#include "host/memory/page_store.h"
#include "host/mqs/worker_process.h"
#include "tests/mqs/storing_memory.h"
#include "tests/mqs/test_target.h"
#include "tests/support/contains_page.h"
#include "tests/support/eventually.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <thread>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t all = PageStore::all_lines;

/// Enough operations for several pages, in structures some of which lie across two.
std::vector<TestCommunicator> crowd() {
  TestCommunicator crowded{0x100, 0, "crowded", {0, 1, 2}, {}};
  for (int i = 0; i < 300; ++i)
    crowded.operations.push_back({OpClass::receive, i % 3, i, 8 * i, 0});
  return {crowded, {0x200, 1, "small", {2, 1, 0}, {{OpClass::send, 2, 5, 16, 0x3000}}}};
}

/// Everything that a walk found, to be compared.
std::string told(const WalkResult& result) {
  std::string text = result.failure ? result.failure->message : "";
  for (const auto& communicator : result.communicators) {
    text +=
        fmt::format("\n{:#x} {} {}", communicator.id.value, communicator.name, communicator.size);
    for (const auto& queue : communicator.queues)
      for (const auto& operation : queue.operations)
        text += fmt::format("\n{} {} {} {:#x}", operation.raw.desired_local_rank,
                            operation.raw.desired_tag, operation.raw.desired_length,
                            operation.raw.buffer);
  }
  return text;
}

/// A target whose memory is walked through a store of `max_bytes`.
struct Stored {
  explicit Stored(const Platform& platform, std::size_t max_bytes = PageStore::default_max_bytes)
      : target(platform, crowd()), store(PageStore::create(max_bytes).value()),
        memory(target.memory, *store) {}

  WalkRequest request(const std::string& dll = "list") {
    const WalkRequest plain = target.request(dll);
    WalkRequest request{
        plain.worker, plain.dll, {target.images, memory, target.platform}, "solver"};
    request.sandboxed = plain.sandboxed;
    request.op_classes = plain.op_classes;
    request.store = store.get();
    return request;
  }
  /// Pages that nobody has asked for, as a prefetch brings them.
  void preload(std::uint64_t first, std::size_t count) {
    const auto room = store->prepare(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto read =
          target.memory.read({(first + i) * PageStore::page_size},
                             room.subspan(i * PageStore::page_size, PageStore::page_size));
      const bool whole = read.value() == PageStore::page_size;
      store->publish(first + i, whole ? all : 0, all);
    }
    target.memory.calls = 0;
  }

  TestTarget target;
  std::unique_ptr<PageStore> store;
  StoringMemory memory;
};

class StoreWalk : public testing::TestWithParam<Platform> {
protected:
  std::string expected() { return told(walk_queues(plain_.request("list"))); }

private:
  TestTarget plain_{GetParam(), crowd()};
};

INSTANTIATE_TEST_SUITE_P(, StoreWalk, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(StoreWalk, AsksForEachPageOnce) {
  Stored stored(GetParam());
  const auto result = walk_queues(stored.request());
  EXPECT_EQ(told(result), expected());
  EXPECT_GT(result.fetches, 1500U);
  EXPECT_GT(stored.store->pages(), 10U);
  // A fetch across two pages of which one is there is a miss for both.
  EXPECT_LE(stored.memory.pieces, 2 * stored.store->pages());
}

TEST_P(StoreWalk, FindsTheSameInPagesOfWhichOnlyLinesAreKnown) {
  Stored stored(GetParam());
  stored.memory.whole_pages = false;
  EXPECT_EQ(told(walk_queues(stored.request())), expected());
}

TEST_P(StoreWalk, GoesOnWhenTheStoreWasFullAndStartsAnew) {
  for (const bool whole_pages : {true, false}) {
    Stored stored(GetParam(), 3 * PageStore::page_size);
    stored.memory.whole_pages = whole_pages;
    EXPECT_EQ(told(walk_queues(stored.request())), expected());
    EXPECT_LE(stored.store->pages(), 3U);
    EXPECT_GT(count_pages(stored.store->touched()), 10U) << "all epochs' pages";
  }
}

/// Knows in which order pages were wanted for the first time.
class RecordedMemory final : public Memory {
public:
  explicit RecordedMemory(Memory& below) : below_(below) {}
  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (const auto& range : ranges)
      if (const auto page = range.address.value / PageStore::page_size;
          std::ranges::find(pages, page) == pages.end())
        pages.push_back(page);
    return below_.read_ranges(ranges);
  }

  std::vector<std::uint64_t> pages;

private:
  Memory& below_;
};

/// Brings, when the first of these pages is missing, all of them, each only when the worker has
/// looked at the one before: it has to be served meanwhile.
class FollowedMemory final : public Memory {
public:
  FollowedMemory(Memory& below, PageStore& store, std::vector<std::uint64_t> pages)
      : below_(below), store_(store), pages_(std::move(pages)) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    ++misses;
    for (const auto page : std::exchange(pages_, {}))
      if (auto done = bring(page); !done)
        return done;
    return below_.read_ranges(ranges);
  }

  int misses = 0;
  int unseen = 0; ///< pages that nobody looked at

private:
  Result<void> bring(std::uint64_t number) {
    const auto room = store_.prepare(number, 1);
    auto read = below_.read({number * PageStore::page_size}, room);
    if (!read)
      return forward(std::move(read));
    store_.publish(number, page_table::lines_of(0, std::max<std::size_t>(*read, 1)), all);
    const auto seen = [&] {
      (void)store_.let_look();
      return contains_page(store_.touched(), number);
    };
    unseen += test::eventually(std::chrono::seconds(5), seen) ? 0 : 1;
    return {};
  }

  Memory& below_;
  PageStore& store_;
  std::vector<std::uint64_t> pages_;
};

TEST_P(StoreWalk, GoesOnInThePagesThatHaveComeWhileOthersAreOnTheirWay) {
  Stored stored(GetParam());
  RecordedMemory recorded(stored.target.memory);
  StoringMemory storing(recorded, *stored.store);
  const auto walk = [&](Memory& memory) {
    const WalkRequest plain = stored.request();
    WalkRequest request{
        plain.worker, plain.dll, {plain.space.images, memory, plain.space.platform}, "solver"};
    request.op_classes = plain.op_classes;
    request.store = plain.store;
    request.sandboxed = plain.sandboxed;
    return told(walk_queues(request));
  };
  ASSERT_EQ(walk(storing), expected());
  ASSERT_GT(recorded.pages.size(), 10U);
  stored.store = PageStore::create().value();
  FollowedMemory followed(stored.target.memory, *stored.store, recorded.pages);
  EXPECT_EQ(walk(followed), expected());
  EXPECT_EQ(followed.unseen, 0);
  EXPECT_LE(followed.misses, 2) << "the end of the heap is no whole line";
}

class StoreWalkOnce : public testing::Test {
protected:
  Stored stored{test_platforms().front()};
};

TEST_F(StoreWalkOnce, ASecondWalkAsksForNothing) {
  const auto first = told(walk_queues(stored.request()));
  stored.target.memory.calls = 0;
  EXPECT_EQ(told(walk_queues(stored.request())), first);
  EXPECT_EQ(stored.target.memory.calls, 0);
}

TEST_F(StoreWalkOnce, WhatWasPrefetchedIsTouchedOnlyWhereTheDllHasLooked) {
  stored.preload(0xf, 40); // the page before the heap is a hole
  ASSERT_THAT(stored.store->touched(), IsEmpty());
  EXPECT_FALSE(walk_queues(stored.request()).failure);
  EXPECT_LE(stored.memory.pieces, 4U) << "only the root and the end of the heap are missing";
  const auto touched = stored.store->touched();
  EXPECT_TRUE(contains_page(touched, 0x10));
  EXPECT_FALSE(contains_page(touched, 0xf));
  EXPECT_GT(count_pages(touched), 10U);
  EXPECT_LT(count_pages(touched), stored.store->pages());
}

TEST_F(StoreWalkOnce, WithoutAStoreEachFetchIsMadeExactlyAsTheDllMadeIt) {
  TestTarget plain(test_platforms().front(), crowd());
  const auto result = walk_queues(plain.request("list"));
  EXPECT_EQ(plain.memory.ranges_asked, result.fetches);
  EXPECT_EQ(plain.memory.bytes_asked, result.fetch_bytes);
}

TEST_F(StoreWalkOnce, AHoleIsTheDllsErrorAndNothingElse) {
  stored.target.set_root(0x666000);
  const auto result = walk_queues(stored.request());
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.failed");
}

TEST_F(StoreWalkOnce, ALostConnectionEndsTheWalkWithItsOwnError) {
  stored.target.memory.fail_with({"connect.lost", "the stub has gone", ""});
  const auto result = walk_queues(stored.request());
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "connect.lost");
}

TEST_F(StoreWalkOnce, ADllCannotWriteToThePagesAndItsRecordIsNoMoreThanAHint) {
  stored.preload(0x10, 5);
  const auto result = walk_queues(stored.request("SCRIBBLES"));
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages, Contains("the pages are sealed"));
  EXPECT_THAT(result.dll_messages, Not(Contains("the pages are writable")));
  EXPECT_EQ(count_pages(stored.store->touched()), 5U) << "all that there are";
}

TEST_F(StoreWalkOnce, TheStoresDescriptorIsGoneBeforeTheDllIsLoaded) {
  const auto result = walk_queues(stored.request("LOOKS_AROUND"));
  EXPECT_THAT(result.dll_messages,
              Contains(StartsWith("0 variables, 4 descriptors, 0 bytes of input, ")));
}

TEST_F(StoreWalkOnce, AWorkerStartedBeforehandDoesTheWalk) {
  auto worker = WorkerProcess::start(test_worker().program);
  ASSERT_TRUE(worker);
  auto request = stored.request();
  request.worker = "/no/such/worker"; // none other can be started
  request.started = &*worker;
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(worker->alive()) << "for one walk";
}

TEST_F(StoreWalkOnce, AWorkerThatDiedBeforehandIsReplaced) {
  auto worker = WorkerProcess::start("/bin/true");
  ASSERT_TRUE(worker);
  for (int i = 0; i < 200 && worker->alive(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_FALSE(worker->alive());
  auto request = stored.request();
  request.started = &*worker;
  EXPECT_FALSE(walk_queues(request).failure);
}

} // namespace
} // namespace mqbridge
