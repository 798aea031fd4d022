// The parts of host/mqs/queues.h that keep a million operations small.

#include "host/mqs/queues.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <malloc.h>
#include <numeric>

namespace mqbridge {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::SizeIs;

constexpr auto chunk = ChunkedList<int>::chunk;

ChunkedList<int> counted(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return {numbers.begin(), numbers.end()};
}

TEST(ChunkedList, IsASequenceWhateverItsLength) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 7}) {
    const auto list = counted(count);
    ASSERT_THAT(list, SizeIs(count));
    EXPECT_EQ(list.empty(), count == 0);
    int next = 0;
    for (const int each : list)
      EXPECT_EQ(each, next++);
    EXPECT_EQ(static_cast<std::size_t>(next), count);
    EXPECT_THROW(list.at(count), std::out_of_range);
  }
}

TEST(ChunkedList, WhatIsInAFullChunkStaysWhereItIs) {
  auto list = counted(2 * chunk);
  const int* const first = &list[0];
  const int* const last = &list.back();
  for (int i = 0; i < 1000; ++i)
    list.push_back(i);
  EXPECT_EQ(first, &list[0]);
  EXPECT_EQ(last, &list[2 * chunk - 1]);
}

TEST(ChunkedList, ElementsAreErasedAndTheOthersKeepTheirOrder) {
  const int count = static_cast<int>(3 * chunk + 7);
  for (const int every : {1, 2, 3, count}) {
    auto list = counted(static_cast<std::size_t>(count));
    const auto erased = erase_if(list, [&](int each) { return each % every == 0; });
    std::vector<int> left;
    for (int i = 0; i < count; ++i)
      if (i % every != 0)
        left.push_back(i);
    EXPECT_EQ(erased, static_cast<std::size_t>(count) - left.size());
    EXPECT_THAT(list, ElementsAreArray(left));
    list.push_back(-1);
    EXPECT_EQ(list.back(), -1);
    EXPECT_THAT(list, SizeIs(left.size() + 1));
  }
}

TEST(ChunkedList, IsCutAtAnyPlace) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, chunk, chunk + 1, 2 * chunk}) {
    auto list = counted(2 * chunk);
    list.truncate(count);
    EXPECT_THAT(list, SizeIs(count));
  }
}

TEST(CompactOptional, KnowsEveryNumberButTheMostNegative) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, least + 1, -(least + 1)}) {
    const MaybeInt known = value;
    ASSERT_TRUE(known) << value;
    EXPECT_EQ(*known, value);
    EXPECT_EQ(known, std::optional(value));
    EXPECT_FALSE(known == std::nullopt);
  }
  EXPECT_FALSE(MaybeInt(least));
  EXPECT_EQ(MaybeInt(least), MaybeInt());
  EXPECT_EQ(MaybeInt(), std::optional<std::int64_t>());
  EXPECT_EQ(MaybeInt().value_or(7), 7);
  EXPECT_EQ(std::optional<std::int64_t>(MaybeInt()), std::nullopt);
  EXPECT_TRUE(MaybeAddress(TargetAddress{0})) << "MPI_BOTTOM";
}

TEST(RepairList, KeepsTheOrderAndEachOnce) {
  RepairList repairs;
  EXPECT_TRUE(repairs.empty());
  for (const Repair each : {Repair::text, Repair::sign_extension, Repair::text, Repair::status})
    repairs.add(each);
  EXPECT_THAT(repairs, ElementsAre(Repair::text, Repair::sign_extension, Repair::status));
  repairs.remove(Repair::sign_extension);
  repairs.remove(Repair::length);
  EXPECT_THAT(repairs, ElementsAre(Repair::text, Repair::status));
  EXPECT_TRUE(repairs.contains(Repair::status));
  EXPECT_FALSE(repairs.contains(Repair::sign_extension));
}

TEST(RepairList, HasRoomForAll) {
  RepairList all;
  for (int each = static_cast<int>(Repair::text); each >= 0; --each)
    all.add(static_cast<Repair>(each));
  ASSERT_EQ(std::distance(all.begin(), all.end()), static_cast<int>(Repair::text) + 1);
  EXPECT_EQ(*all.begin(), Repair::text);
}

TEST(TextLines, ComeOutAsTheyWentIn) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {""},
      {"", "second"},
      {"Receive: 0x5570c0de0080"},
      {"Send: 0xffffffffffffffff", "Data: 4 instances of MPI datatype", "MPI_"},
      {"two 0x10 and 0x20", "0x30"},
      {"0x0"},
      {"0x"},
      {"0xzz"},
      {"0X10 is not how an address is written"},
      {"0x0010: leading zeros", "0xABC: capitals", "0xfFf"},
      {"0x10000000000000000: 65 bits"},
      {"0x10and more"},
      {"MPI_Irecv", "12 x MPI_DOUBLE"},
      std::vector<std::string>(5, std::string(64, 't')),
  };
  TextPool pool;
  for (const auto& lines : cases) {
    for (int twice = 0; twice < 2; ++twice) {
      const TextLines text(lines, pool);
      EXPECT_THAT(text, ElementsAreArray(lines));
      EXPECT_EQ(text.empty(), lines.empty());
      for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(text[i], lines[i]);
    }
  }
}

TEST(TextLines, HiddenOnesAreKept) {
  TextLines text = {"Receive: 0x5570", "Data: 4", "MPI_"};
  EXPECT_FALSE(text.hides_some());
  text.show_only(1);
  EXPECT_THAT(text, ElementsAre("Receive: 0x5570"));
  EXPECT_TRUE(text.hides_some());
  EXPECT_THAT(text.all(), ElementsAre("Receive: 0x5570", "Data: 4", "MPI_"));
}

TEST(TextPool, WhatDiffersByAnAddressIsThereOnce) {
  TextPool pool;
  EXPECT_EQ((*pool.share("one")).data(), (*pool.share("one")).data());
  static_cast<void>(pool.share("another"));
  EXPECT_EQ((*pool.share("one")).data(), (*pool.share("one")).data());
}

TEST(TextPool, MoreTextsThanItKeepsAreStillRight) {
  TextPool pool;
  std::vector<SharedText> texts;
  for (std::size_t i = 0; i < TextPool::most + 100; ++i)
    texts.push_back(pool.share(std::to_string(i)));
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(*texts[i], std::to_string(i));
}

TEST(Operations, CostLittleBesideThemselves) {
  constexpr std::size_t count = 20'000;
  TextPool pool;
  ChunkedList<Operation> operations;
  const auto before = ::mallinfo2().uordblks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::string> said = {fmt::format("Receive: {:#x}", 0x5570c0de0000 + 768 * i),
                                           "Data: 8 instances of MPI datatype", "MPI_"};
    auto& made = operations.emplace_back();
    made.text = TextLines(said, pool);
    made.text.show_only(1);
    made.repairs.add(Repair::text);
  }
  const auto each = (::mallinfo2().uordblks - before) / count;
  EXPECT_LE(each, sizeof(Operation) + 8);
  EXPECT_EQ(operations[count - 1].text.front(),
            fmt::format("Receive: {:#x}", 0x5570c0de0000 + 768 * (count - 1)));
}

} // namespace
} // namespace mqbridge
