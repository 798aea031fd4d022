#include "host/memory/page_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t all_lines = PageStore::all_lines;
constexpr std::uint64_t last_page = UINT64_MAX / PageStore::page_size;

/// The file as a worker maps it.
class View {
public:
  explicit View(int descriptor) {
    struct stat file {};
    ::fstat(descriptor, &file);
    size_ = static_cast<std::size_t>(file.st_size);
    base_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  }
  ~View() { ::munmap(base_, size_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const page_table::Header& header() const {
    return *static_cast<const page_table::Header*>(base_);
  }
  const page_table::Entry& find(std::uint64_t number) const {
    const std::uint64_t entries = header().entries;
    const auto* table =
        reinterpret_cast<const page_table::Entry*>(bytes() + page_table::table_offset(entries));
    return page_table::find(table, entries, number);
  }
  const std::byte* slot(const page_table::Entry& entry) const {
    return bytes() + header().data + entry.slot * PageStore::page_size;
  }

private:
  const std::byte* bytes() const { return static_cast<const std::byte*>(base_); }

  void* base_ = nullptr;
  std::size_t size_ = 0;
};

class Store : public testing::Test {
protected:
  /// One page, all of it readable, whose bytes are `mark`.
  void add(std::uint64_t number, std::byte mark = std::byte{1}) {
    auto room = store->prepare(number, 1);
    ASSERT_THAT(room, SizeIs(PageStore::page_size));
    std::fill(room.begin(), room.end(), mark);
    store->publish(number, all_lines, all_lines);
  }
  std::int64_t resident_bytes() const {
    struct stat file {};
    ::fstat(store->descriptor(), &file);
    return file.st_blocks * 512;
  }

  std::unique_ptr<PageStore> store = PageStore::create().value();
};

TEST_F(Store, KnowsNothingAtFirst) {
  EXPECT_FALSE(store->find(0));
  EXPECT_FALSE(store->find(last_page));
  EXPECT_FALSE(store->find(UINT64_MAX));
  EXPECT_EQ(store->bytes_of(7), nullptr);
  EXPECT_EQ(store->pages(), 0U);
  EXPECT_EQ(store->room(), PageStore::default_max_bytes / PageStore::page_size);
  EXPECT_THAT(store->touched(), IsEmpty());
}

TEST_F(Store, ShowsAPageOnlyWhenItIsPublished) {
  const auto room = store->prepare(42, 2);
  ASSERT_THAT(room, SizeIs(2 * PageStore::page_size));
  EXPECT_FALSE(store->find(42));
  room[PageStore::page_size] = std::byte{9};
  store->publish(43, all_lines, all_lines);
  EXPECT_FALSE(store->find(42));
  const auto page = store->find(43);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->bytes[0], std::byte{9});
  EXPECT_EQ(page->readable, all_lines);
}

TEST_F(Store, LearnsAPageLineByLine) {
  store->prepare(5, 1);
  store->publish(5, 0b0011, 0b0111);
  EXPECT_EQ(store->find(5)->readable, 0b0011U);
  EXPECT_EQ(store->find(5)->settled, 0b0111U);
  store->bytes_of(5)[3 * PageStore::line_size] = std::byte{4};
  store->publish(5, 0b1000, 0b1000);
  EXPECT_EQ(store->find(5)->readable, 0b1011U);
  EXPECT_EQ(store->find(5)->settled, 0b1111U);
  EXPECT_EQ(store->find(5)->bytes[3 * PageStore::line_size], std::byte{4});
}

TEST_F(Store, NeverTakesAHoleForReadable) {
  store->prepare(5, 1);
  store->publish(5, 0b1111, 0b0001);
  EXPECT_EQ(store->find(5)->readable, 0b0001U);
}

TEST_F(Store, HasTheFirstAndTheLastPageOfTheAddressSpace) {
  add(0, std::byte{1});
  add(last_page, std::byte{2});
  EXPECT_EQ(store->find(0)->bytes[0], std::byte{1});
  EXPECT_EQ(store->find(last_page)->bytes[0], std::byte{2});
  EXPECT_THAT(store->prepare(last_page, 2), IsEmpty());
  EXPECT_THAT(store->prepare(last_page + 1, 1), IsEmpty());
  EXPECT_THAT(store->prepare(UINT64_MAX, 1), IsEmpty());
}

TEST_F(Store, RefusesToPrepareWhatIsKnownAndNothing) {
  add(10);
  EXPECT_THAT(store->prepare(9, 3), IsEmpty());
  EXPECT_FALSE(store->find(9));
  EXPECT_THAT(store->prepare(20, 0), IsEmpty());
  store->publish(77, all_lines, all_lines);
  EXPECT_FALSE(store->find(77)) << "it was never prepared";
}

TEST_F(Store, PreparesAgainWhatCouldNotBeRead) {
  store->prepare(9, 1);
  const auto room = store->prepare(8, 3);
  ASSERT_THAT(room, SizeIs(3 * PageStore::page_size));
  room[PageStore::page_size] = std::byte{6};
  store->publish(9, all_lines, all_lines);
  EXPECT_EQ(store->find(9)->bytes[0], std::byte{6}) << "in a row with the others";
}

TEST_F(Store, SaysWhenItIsFullAndStartsAnew) {
  store = PageStore::create(3 * PageStore::page_size).value();
  EXPECT_EQ(store->room(), 3U);
  EXPECT_THAT(store->prepare(1, 4), IsEmpty());
  EXPECT_THAT(store->prepare(1, 3), SizeIs(3 * PageStore::page_size));
  EXPECT_THAT(store->prepare(9, 1), IsEmpty());
  store->clear();
  EXPECT_EQ(store->room(), 3U);
  EXPECT_EQ(store->pages(), 0U);
  add(9);
  EXPECT_TRUE(store->find(9));
}

TEST_F(Store, WhatWasGivenBackNeverTakesThePlaceOfPages) {
  store = PageStore::create(4 * PageStore::page_size).value();
  add(7, std::byte{7});
  const View view(store->descriptor());
  std::uint64_t next = 100;
  for (; !store->prepare(next, 3).empty() && next < 10'000; next += 3)
    store->give_back(3);
  EXPECT_GT(next, 150U);
  EXPECT_EQ(store->room(), 0U) << "as if it were full";
  EXPECT_EQ(store->pages(), 1U);
  EXPECT_LE(page_table::table_offset(2 * view.header().entries), view.header().data);
  const auto page = store->find(7);
  ASSERT_TRUE(page);
  EXPECT_TRUE(std::all_of(page->bytes, page->bytes + PageStore::page_size,
                          [](std::byte byte) { return byte == std::byte{7}; }));
  store->clear();
  EXPECT_EQ(store->room(), 4U);
  add(next, std::byte{9});
  EXPECT_EQ(store->find(next)->bytes[0], std::byte{9});
}

TEST_F(Store, IsBoundedWhateverIsAskedFor) {
  EXPECT_EQ(PageStore::create(0).value()->room(), 1U);
  EXPECT_EQ(PageStore::create(SIZE_MAX).value()->room(), page_table::max_slots);
}

TEST_F(Store, ClearForgetsEverythingAndBeginsAnEpoch) {
  add(3);
  store->prepare(4, 1);
  const View view(store->descriptor());
  const auto before = view.header().epoch;
  store->clear();
  EXPECT_FALSE(store->find(3));
  EXPECT_EQ(store->bytes_of(4), nullptr);
  EXPECT_NE(view.header().epoch, before);
  EXPECT_EQ(view.find(3).key, 0U);
}

TEST_F(Store, AWorkerFindsEveryPageHoweverManyThereAre) {
  std::mt19937_64 random(1);
  std::set<std::uint64_t> numbers;
  while (numbers.size() < 20'000)
    numbers.insert(random() % 4 == 0 ? random() % last_page : 0x7f0000000 + numbers.size());
  for (const auto number : numbers) {
    const auto room = store->prepare(number, 1);
    std::memcpy(room.data(), &number, sizeof number);
    store->publish(number, all_lines, all_lines);
  }
  const View view(store->descriptor());
  EXPECT_EQ(view.header().magic, page_table::magic);
  for (const auto number : numbers) {
    const auto& entry = view.find(number);
    ASSERT_EQ(entry.key, number + 1);
    ASSERT_EQ(entry.readable, all_lines);
    ASSERT_EQ(std::memcmp(view.slot(entry), &number, sizeof number), 0);
    ASSERT_EQ(std::memcmp(store->find(number)->bytes, &number, sizeof number), 0);
  }
  EXPECT_EQ(view.find(0x123).key, 0U);
  EXPECT_EQ(store->pages(), numbers.size());
}

/// Numbers are published in their order: from the first one that is missing on all are.
TEST_F(Store, AWorkerReadsWhilePagesComeAndTheTableGrows) {
  constexpr std::uint64_t count = 20'000;
  const View view(store->descriptor());
  std::thread parent([&] {
    for (std::uint64_t number = 0; number < count; ++number) {
      const auto room = store->prepare(7 * number, 1);
      std::memcpy(room.data(), &number, sizeof number);
      store->publish(7 * number, all_lines, all_lines);
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < count;) {
    const auto& entry = view.find(7 * number);
    if (entry.readable.load(std::memory_order_acquire) != all_lines)
      continue;
    wrong += entry.key != 7 * number + 1 ? 1U : 0U;
    wrong += std::memcmp(view.slot(entry), &number, sizeof number) != 0 ? 1U : 0U;
    ++number;
  }
  parent.join();
  EXPECT_EQ(wrong, 0U);
}

TEST_F(Store, RoomThatIsGivenBackIsFree) {
  add(1);
  const auto room = store->room();
  ASSERT_FALSE(store->prepare(10, 100).empty());
  std::memset(store->bytes_of(10), 7, 10 * PageStore::page_size);
  for (std::uint64_t number = 10; number < 20; ++number)
    store->publish(number, all_lines, all_lines);
  store->give_back(90);
  EXPECT_EQ(store->room(), room - 10);
  EXPECT_TRUE(store->find(19));
  EXPECT_FALSE(store->find(20));
  EXPECT_EQ(store->bytes_of(20), nullptr) << "its slot may be another's";
  store->publish(20, all_lines, all_lines);
  store->mark_touched(20);
  EXPECT_FALSE(store->find(20));
  add(500);
  EXPECT_TRUE(store->touched().empty());
  add(20);
  EXPECT_TRUE(store->find(500) && store->find(20));
  EXPECT_NE(store->find(500)->bytes, store->find(20)->bytes);
}

TEST_F(Store, WhatWasPublishedIsNotGivenBack) {
  add(1);
  add(2);
  store->give_back(1);
  EXPECT_TRUE(store->find(2));
}

TEST_F(Store, CopiesAllOrNothing) {
  const auto room = store->prepare(5, 2);
  for (std::size_t i = 0; i < room.size(); ++i)
    room[i] = static_cast<std::byte>(i % 251);
  store->publish(5, all_lines, all_lines);
  store->publish(6, 1, 1);
  std::vector<std::byte> into(200);
  const std::uint64_t near_end = 6 * PageStore::page_size - 150;
  EXPECT_TRUE(store->copy(near_end, std::span(into).first(200)));
  EXPECT_EQ(std::memcmp(into.data(), room.data() + PageStore::page_size - 150, 200), 0);
  EXPECT_FALSE(store->copy(near_end + 15, std::span(into).first(200))) << "of the second line";
  EXPECT_FALSE(store->copy(4 * PageStore::page_size + 4000, into));
  EXPECT_THAT(store->touched(), ElementsAre(PageRun{5, 2}));
  EXPECT_FALSE(store->copy(UINT64_MAX - 10, into));
}

TEST_F(Store, TakesMemoryForThePagesThatItHas) {
  EXPECT_LE(resident_bytes(), 2 * 4096);
  for (std::uint64_t i = 0; i < 2000; ++i)
    add(i * 977);
  EXPECT_GE(resident_bytes(), 2000 * 4096);
  EXPECT_LE(resident_bytes(), 2000 * 4096 * 11 / 10);
  store->clear();
  for (std::uint64_t i = 0; i < 2000; ++i)
    add(i * 131);
  EXPECT_LE(resident_bytes(), 2000 * 4096 * 11 / 10) << "the memory is used again";
}

TEST_F(Store, RemembersWhatWasTouchedInRuns) {
  for (const std::uint64_t number : {11, 30, 10, 12, 40})
    add(number);
  for (const std::uint64_t number : {12, 40, 10, 11, 12, 999})
    store->mark_touched(number);
  EXPECT_THAT(store->touched(), ElementsAre(PageRun{10, 3}, PageRun{40, 1}));
}

TEST_F(Store, KeepsWhatWasTouchedWhenItIsCleared) {
  add(1);
  add(2);
  store->mark_touched(2);
  store->clear();
  add(1);
  store->mark_touched(1);
  EXPECT_THAT(store->touched(), ElementsAre(PageRun{1, 2}));
}

TEST_F(Store, TakesTheWorkersRecordForAHint) {
  const auto record = std::make_unique<page_table::TouchRecord>();
  add(100);
  add(200);
  add(300);
  store->set_worker_record(record.get());
  (*record)[0] = 0b101;
  EXPECT_THAT(store->touched(), ElementsAre(PageRun{100, 1}, PageRun{300, 1}));
  for (auto& word : *record) // what a worker that has gone mad may write
    word = ~std::uint64_t{0};
  EXPECT_THAT(store->touched(), SizeIs(3));
  store->set_worker_record(nullptr);
  EXPECT_THAT(store->touched(), SizeIs(3)) << "taken over before it went";
}

TEST_F(Store, ClearTakesOverWhatTheWorkerHasRecorded) {
  const auto record = std::make_unique<page_table::TouchRecord>();
  add(100);
  store->set_worker_record(record.get());
  (*record)[0] = 1;
  store->clear();
  (*record)[0] = 0; // the worker sees the new epoch
  add(500);
  EXPECT_THAT(store->touched(), ElementsAre(PageRun{100, 1}));
  store->set_worker_record(nullptr);
}

/// What another process with the descriptor may do; a bit for each thing that goes wrong.
int attempts_of_a_worker(int descriptor) {
  int wrong = 0;
  const auto attempt = [&](int bit, bool as_it_should) { wrong |= as_it_should ? 0 : 1 << bit; };
  constexpr std::size_t size = PageStore::page_size;
  void* view = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  attempt(0, view != MAP_FAILED);
  attempt(1, static_cast<const page_table::Header*>(view)->magic == page_table::magic);
  attempt(2,
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) == MAP_FAILED);
  attempt(3, ::mprotect(view, size, PROT_READ | PROT_WRITE) != 0);
  attempt(4, ::pwrite(descriptor, "x", 1, 0) < 0);
  attempt(5, ::ftruncate(descriptor, 0) != 0);
  const int again = ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDWR);
  attempt(6, again < 0 || ::pwrite(again, "x", 1, 0) < 0);
  attempt(7, again < 0 || ::mmap(nullptr, size, PROT_WRITE, MAP_SHARED, again, 0) == MAP_FAILED);
  return wrong;
}

TEST_F(Store, IsReadOnlyForEveryOtherProcess) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(attempts_of_a_worker(store->descriptor()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "bits of attempts_of_a_worker()";
  add(1);
  EXPECT_TRUE(store->find(1)) << "its owner still writes";
}

TEST(StoreWithoutDescriptors, SaysWhatToDo) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto made = PageStore::create();
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "memory.store");
  EXPECT_THAT(made.error().message, HasSubstr("1024 MiB"));
  EXPECT_THAT(made.error().hint, HasSubstr("ulimit -f -n -v"));
}

/// Not while anything is printed: output may go to a file.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit low{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &low);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
  rlimit before_{};
};

Result<std::unique_ptr<PageStore>> create_below(rlim_t file_size) {
  const FileSizeLimit limit(file_size);
  return PageStore::create();
}

TEST(StoreUnderALimitOnFiles, IsAsLargeAsTheLimitAllows) {
  const auto store = create_below(rlim_t{16} << 20);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_GT((*store)->room(), (std::size_t{12} << 20) / PageStore::page_size);
  EXPECT_LT((*store)->room(), (std::size_t{16} << 20) / PageStore::page_size);
}

TEST(StoreUnderALimitOnFiles, SaysSoWhereNothingFits) {
  const auto store = create_below(4096);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, "memory.store");
  EXPECT_THAT(store.error().hint, HasSubstr("ulimit -f"));
}

TEST(PageTable, LinesOfAPieceOfAPage) {
  struct Case {
    std::size_t offset, size;
    std::uint64_t lines;
  };
  for (const auto& [offset, size, lines] : std::array<Case, 7>{{{0, 1, 1},
                                                                {63, 1, 1},
                                                                {63, 2, 0b11},
                                                                {64, 64, 0b10},
                                                                {100, 200, 0b11110},
                                                                {0, 4096, all_lines},
                                                                {4095, 1, std::uint64_t{1} << 63}}})
    EXPECT_EQ(page_table::lines_of(offset, size), lines) << offset << ' ' << size;
}

} // namespace
} // namespace mqbridge
