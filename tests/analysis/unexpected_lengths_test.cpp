#include "host/analysis/unexpected_lengths.h"
#include "tests/document/sample_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

VariableValue counts(std::vector<std::uint64_t> values) {
  return values;
}

/// As Open MPI has it: by peer, for each communicator.
Variable of_openmpi(VariableValue world, VariableValue row) {
  auto variable = performance("pml_ob1_unexpected_msgq_length",
                              {.value = std::move(world), .object = "MPI_COMM_WORLD"});
  variable.readings.push_back(
      {.value = std::move(row), .object = "row", .earlier = true, .age_s = 0.5});
  return variable;
}

TEST(UnexpectedLengths, OfAllPeersOfEachCommunicator) {
  const auto found = find_unexpected_lengths(
      dump_of({rank_with(0, {of_openmpi(counts({0, 0, 0}), counts({0}))}),
               rank_with(1, {of_openmpi(counts({2, 0, 9}), counts({300}))})}),
      10);
  ASSERT_EQ(found.queues.size(), 2U) << "the longest first";
  EXPECT_EQ(found.queues[0].rank, 1U);
  EXPECT_EQ(found.queues[0].object, "row");
  EXPECT_EQ(found.queues[0].length, 300U);
  EXPECT_TRUE(found.queues[0].earlier);
  EXPECT_EQ(found.queues[0].age_s, 0.5);
  EXPECT_FALSE(found.queues[1].earlier);
  EXPECT_EQ(found.queues[1].length, 11U);
  EXPECT_THAT(found.queues[1].peers, ElementsAre(2, 0));
  EXPECT_THAT(found.counted, ElementsAre(0, 1));
}

TEST(UnexpectedLengths, OneNumberOfMpich) {
  const auto found = find_unexpected_lengths(
      dump_of({rank_with(0, {performance("unexpected_recvq_length", {counts({4})})})}), 3);
  ASSERT_EQ(found.queues.size(), 1U);
  EXPECT_EQ(found.queues[0].length, 4U);
  EXPECT_THAT(found.queues[0].peers, IsEmpty());
}

TEST(UnexpectedLengths, NotLongerIsNotLong) {
  const auto dump =
      dump_of({rank_with(0, {performance("unexpected_recvq_length", {counts({4})})})});
  EXPECT_THAT(find_unexpected_lengths(dump, 4).queues, IsEmpty());
  EXPECT_EQ(find_unexpected_lengths(dump, 0).queues.size(), 1U);
}

TEST(UnexpectedLengths, WhatIsNotCountedIsUnknownAndNotZero) {
  auto unread = of_openmpi(counts({0}), counts({0}));
  unread.readings[1] = {.value = std::nullopt, .object = "row", .reason = "x"};
  auto failed = rank_with(1, {});
  failed.variables.reset();
  auto most = performance("unexpected_recvq_length", {counts({4})});
  most.pvar_class = VariableClass::highwatermark;
  const auto found = find_unexpected_lengths(
      dump_of({rank_with(0, {unread}), failed, rank_with(2, {control("x", number(1))}),
               rank_with(3, {performance("posted_recvq_length", {counts({4})})}),
               rank_with(4, {most})}),
      0);
  EXPECT_THAT(found.queues, IsEmpty());
  EXPECT_THAT(found.counted, IsEmpty());
  EXPECT_THAT(found.unknown, ElementsAre(0, 1, 2, 3, 4));
}

} // namespace
} // namespace mqbridge::test
