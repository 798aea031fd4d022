// What a burst asks for next, and by which packet; read_memory_test.cpp and memory_request_test.cpp
// have the bursts with stubs.

#include "rsp/commands/read_outcomes.h"
#include "rsp/commands/read_plan.h"

#include <gmock/gmock.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t planned = 0x7f0000001000;
using limits::page;

class ReadPlanTest : public testing::Test {
protected:
  void want(std::vector<std::pair<std::uint64_t, std::size_t>> ranges) {
    buffers.clear();
    requests.clear();
    for (const auto& [address, size] : ranges)
      buffers.emplace_back(size);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      requests.push_back({ranges[i].first, buffers[i]});
    joined = join(requests, 2 * page, 1);
  }
  ReadPlan plan(bool careful = false) { return {joined, features, file, {}, careful}; }

  Features features;
  MemoryFile file;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<ReadRequest> requests;
  std::vector<JoinedRange> joined;
};

/// Where the pieces of all that the plan has to ask for begin.
std::vector<std::uint64_t> asked(ReadPlan plan) {
  std::vector<std::uint64_t> addresses;
  while (const auto read = plan.next())
    for (const auto& piece : read->pieces)
      addresses.push_back(piece.address);
  return addresses;
}

TEST_F(ReadPlanTest, RangesThatTouchAreAskedForInPiecesOfTheStubsSize) {
  want({{planned, page}, {planned + page, 3 * page}, {planned + 8 * page, 16}});
  EXPECT_THAT(asked(plan()), ElementsAre(planned, planned + 2 * page, planned + 8 * page));
}

TEST_F(ReadPlanTest, ACarefulPlanIsAShortOne) {
  want({{planned, 200 * page}});
  EXPECT_EQ(asked(plan()).size(), 100U);
  EXPECT_EQ(asked(plan(true)).size(), 32U);
}

TEST_F(ReadPlanTest, TheFormIsTheBestThatTheStubHas) {
  const auto form = [this](BinaryRead binary, std::size_t size) {
    features.binary_read = binary;
    want({{planned, size}});
    return plan().next()->form;
  };
  EXPECT_EQ(form(BinaryRead::none, page), ReadForm::hex);
  EXPECT_EQ(form(BinaryRead::gdb, page), ReadForm::binary);
  EXPECT_EQ(form(BinaryRead::lldb, page), ReadForm::bare_binary);
  EXPECT_EQ(form(BinaryRead::lldb, 3), ReadForm::hex) << "three bytes may read E01";
}

TEST_F(ReadPlanTest, SmallRangesShareARequestWhereTheStubTakesMany) {
  features.multi_mem_read = true;
  features.packet_size = 2 * page + 1;
  want({{planned, 16}, {planned + 64, 16}, {planned + 128, page}});
  auto plan_ = plan();
  const auto both = plan_.next();
  ASSERT_TRUE(both);
  EXPECT_EQ(both->form, ReadForm::many);
  EXPECT_EQ(both->pieces.size(), 2U) << "the third does not fit";
  EXPECT_EQ(plan_.next()->pieces.size(), 1U);
  EXPECT_EQ(plan(true).next()->pieces.size(), 1U) << "one by one, after something went wrong";
}

TEST_F(ReadPlanTest, NothingIsAskedForBehindAPieceThatCameShort) {
  want({{planned, 8 * page}, {planned + 16 * page, 16}});
  auto plan_ = plan();
  const auto first = plan_.next();
  ASSERT_TRUE(first);
  ReadOutcomes outcomes(features, {});
  outcomes.note(first->form, first->pieces.front(), 100);
  EXPECT_EQ(plan_.next()->pieces.front().address, planned + 16 * page);
}

TEST_F(ReadPlanTest, WhatCameCountsOnlyOnceItIsSettled) {
  want({{planned, 4 * page}});
  auto plan_ = plan();
  ReadOutcomes outcomes(features, {});
  for (int i = 0; i < 2; ++i) {
    const auto read = plan_.next();
    ASSERT_TRUE(read);
    outcomes.note(read->form, read->pieces.front(), 2 * page);
  }
  EXPECT_EQ(joined.front().scan().read(), 0U);
  EXPECT_FALSE(outcomes.progressed());
  outcomes.settle();
  EXPECT_EQ(joined.front().scan().read(), 4 * page);
  EXPECT_TRUE(outcomes.progressed());
}

TEST_F(ReadPlanTest, OfWhatWasReadAheadOfAHoleNothingJoinsOn) {
  want({{planned, 4 * page}});
  auto plan_ = plan();
  ReadOutcomes outcomes(features, {});
  const auto first = plan_.next();
  const auto second = plan_.next();
  ASSERT_TRUE(first && second);
  outcomes.note(first->form, first->pieces.front(), std::nullopt);
  outcomes.note(second->form, second->pieces.front(), 2 * page);
  outcomes.settle();
  EXPECT_EQ(joined.front().scan().read(), 0U);
  EXPECT_TRUE(joined.front().scan().narrowing());
}

} // namespace
} // namespace mqbridge::rsp
