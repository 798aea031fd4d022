#include "host/dump/replay_records.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t plenty = 1 << 18;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values)
    all.push_back(static_cast<std::byte>(value));
  return all;
}

TEST(ReplayRuns, ComeBackAsTheyWere) {
  constexpr std::uint64_t top = ~std::uint64_t{0} >> 12;
  for (const PageRuns& runs :
       {PageRuns{}, PageRuns{{0, 1}}, PageRuns{{0, 3}, {4, 1}}, PageRuns{{127, 128}, {16384, 1}},
        PageRuns{{0x7ffff7d00, 40}, {0x7ffffffde, 2}}, PageRuns{{top - 1, 1}}})
    EXPECT_EQ(decode_runs(encode_runs(runs), plenty), runs);
}

struct Bad {
  const char* what;
  std::vector<std::byte> contents;
};

TEST(ReplayRuns, WhatIsNoSetOfPagesIsNone) {
  const auto ff = 0xff;
  for (const Bad& bad :
       {Bad{"a run without length", bytes({5})}, Bad{"an empty run", bytes({5, 0})},
        Bad{"runs that touch", bytes({5, 1, 0, 1})}, Bad{"a number cut off", bytes({0x85})},
        Bad{"a number of 65 bits", bytes({ff, ff, ff, ff, ff, ff, ff, ff, ff, 2, 1})},
        Bad{"a number without end", bytes({ff, ff, ff, ff, ff, ff, ff, ff, ff, ff, ff, 1})},
        Bad{"beyond the last address", bytes({ff, ff, ff, ff, ff, ff, ff, ff, 1, 1})},
        Bad{"up to beyond it", bytes({ff, ff, ff, ff, ff, ff, ff, 7, 2})},
        Bad{"more pages than there may be", bytes({1, 0x81, 0x80, 0x10})}})
    EXPECT_EQ(decode_runs(bad.contents, plenty), std::nullopt) << bad.what;
}

TEST(ReplayRuns, EveryStartOfARecordIsASetOrNone) {
  const auto whole = encode_runs({{0x7ffff7d00, 40}, {0x7ffffffde, 300}, {0x800000222, 1}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto runs = decode_runs(std::span(whole).first(length), plenty);
    if (runs) {
      EXPECT_EQ(encode_runs(*runs).size(), length);
    }
  }
}

TEST(ReplayRecords, KeepWhatTheLastDumpOfAProcessLookedAt) {
  const test::TempDirectory directory;
  ReplayRecords(directory.path()).keep_process_pages("a", {{1, 2}, {9, 1}});
  ReplayRecords later(directory.path());
  EXPECT_EQ(later.process_pages("a"), (PageRuns{{1, 2}, {9, 1}}));
  EXPECT_EQ(later.process_pages("b"), PageRuns{});
  EXPECT_EQ(later.image_pages("a"), PageRuns{}) << "a build-id is no process";
  later.keep_process_pages("a", {{7, 1}});
  EXPECT_EQ(later.process_pages("a"), (PageRuns{{7, 1}})) << "the last dump, not all of them";
}

TEST(ReplayRecords, GatherThePagesOfAnImage) {
  const test::TempDirectory directory;
  ReplayRecords records(directory.path());
  records.keep_image_pages("3f9c01", {{1, 2}, {9, 1}});
  records.keep_image_pages("3f9c01", {{3, 1}, {9, 1}});
  EXPECT_EQ(records.image_pages("3f9c01"), (PageRuns{{1, 3}, {9, 1}}));
  records.keep_image_pages("3f9c01", {{100, 5000}});
  EXPECT_EQ(records.image_pages("3f9c01"), (PageRuns{{1, 3}, {9, 1}})) << "too many to be roots";
}

TEST(ReplayRecords, ADamagedFileIsAsNone) {
  const test::TempDirectory directory;
  ReplayRecords records(directory.path());
  records.keep_process_pages("a", {{1, 2}});
  int damaged = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory.path() / "replay")) {
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-1, std::ios::end);
    stream.put('\x7f');
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
  EXPECT_EQ(records.process_pages("a"), PageRuns{});
}

TEST(ReplayRecords, WithoutAPlaceToKeepThemThereAreNone) {
  ReplayRecords records{std::optional<std::filesystem::path>()};
  records.keep_process_pages("a", {{1, 2}});
  EXPECT_EQ(records.process_pages("a"), PageRuns{});
}

} // namespace
} // namespace mqbridge
