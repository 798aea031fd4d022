#include "host/analysis/compare_variables.h"
#include "tests/document/sample_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What the comparison of one job says.
JobVariableDifferences compared(const Dump& dump, bool all = false) {
  auto jobs = compare_variables(dump, all);
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.at(0);
}

Dump with_values(const std::vector<std::int64_t>& values) {
  std::vector<RankDump> ranks;
  for (std::size_t i = 0; i < values.size(); ++i)
    ranks.push_back(rank_with(static_cast<int>(i),
                              {control("limit", number(values[i])), control("same", number(1))}));
  return dump_of(std::move(ranks));
}

TEST(CompareVariables, NamesTheRankThatIsNotLikeTheOthers) {
  auto dump = with_values({65536, 65536, 65536, 4096});
  for (RankDump& rank : dump.ranks)
    rank.variables->variables[0].set_by = rank.rank == 3 ? "environment" : "default";
  const auto job = compared(dump);
  EXPECT_EQ(job.compared, 2U);
  EXPECT_THAT(job.ranks, ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(job.differences.size(), 1U);
  const auto& limit = job.differences[0];
  EXPECT_EQ(limit.name, "limit");
  EXPECT_EQ(limit.scope, VariableScope::readonly);
  EXPECT_TRUE(limit.majority);
  ASSERT_EQ(limit.opinions.size(), 2U);
  EXPECT_EQ(limit.opinions[0].value, number(65536));
  EXPECT_THAT(limit.opinions[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(limit.opinions[0].set_by, "default");
  EXPECT_EQ(limit.opinions[1].value, number(4096));
  EXPECT_THAT(limit.opinions[1].ranks, ElementsAre(3));
  EXPECT_EQ(limit.opinions[1].set_by, "environment");
}

TEST(CompareVariables, HalfOfTheRanksAreNotMost) {
  const auto job = compared(with_values({1, 2, 2, 1}));
  ASSERT_EQ(job.differences.size(), 1U);
  EXPECT_FALSE(job.differences[0].majority);
  EXPECT_THAT(job.differences[0].opinions[0].ranks, ElementsAre(0, 3));
}

TEST(CompareVariables, WhoSetTheSameValueIsNoDifference) {
  auto dump = with_values({1, 1});
  dump.ranks[0].variables->variables[0].set_by = "default";
  EXPECT_THAT(compared(dump).differences, IsEmpty());
}

TEST(CompareVariables, PerformanceVariablesAreLeftOutUnlessAskedFor) {
  auto dump = dump_of({rank_with(0, {performance("length", {number(1)})}),
                       rank_with(1, {performance("length", {number(2)})})});
  auto job = compared(dump);
  EXPECT_EQ(job.performance, 1U);
  EXPECT_EQ(job.compared, 0U);
  EXPECT_THAT(job.differences, IsEmpty());
  EXPECT_EQ(compared(dump, true).differences.size(), 1U);
  dump.filters.variables.kind = VariableKind::performance;
  EXPECT_EQ(compared(dump).differences.size(), 1U);
}

TEST(CompareVariables, WhatNoTwoRanksHaveAlikeIsEachOnesOwn) {
  const auto job = compared(with_values({10, 11, 12}));
  EXPECT_THAT(job.differences, IsEmpty());
  EXPECT_THAT(job.own, ElementsAre("limit"));
  EXPECT_EQ(job.compared, 1U) << "and is not compared";
  EXPECT_EQ(compared(with_values({10, 11})).differences.size(), 1U) << "two may be the mistake";
  EXPECT_EQ(compared(with_values({10, 11, 12}), true).differences.size(), 1U);
}

TEST(CompareVariables, TheNumberOfAProcessIsItsOwn) {
  auto dump = dump_of({rank_with(0, {control("orte_ess_vpid", std::string("0"))}),
                       rank_with(1, {control("orte_ess_vpid", std::string("1"))})});
  EXPECT_THAT(compared(dump).own, ElementsAre("orte_ess_vpid"));
  for (RankDump& rank : dump.ranks)
    rank.mpi->name = "MPICH";
  EXPECT_THAT(compared(dump).own, IsEmpty()) << "it is Open MPI's";
}

TEST(CompareVariables, AddressesAreLeftOut) {
  auto dump = dump_of({rank_with(0, {control("at", std::string("0x7f1c4b001010"))}),
                       rank_with(1, {control("at", std::string("0x7f1c4b002020"))})});
  EXPECT_THAT(compared(dump).addresses, ElementsAre("at"));
  dump.ranks[1].variables->variables[0] = control("at", std::string("0x10"));
  EXPECT_EQ(compared(dump).differences.size(), 1U) << "a setting";
}

TEST(CompareVariables, AVariableThatARankDoesNotHaveIsADifference) {
  auto dump = with_values({1, 1, 1});
  dump.ranks[2].variables->variables.erase(dump.ranks[2].variables->variables.begin());
  const auto job = compared(dump);
  ASSERT_EQ(job.differences.size(), 1U);
  EXPECT_TRUE(job.differences[0].opinions[0].exists);
  EXPECT_FALSE(job.differences[0].opinions[1].exists);
  EXPECT_THAT(job.differences[0].opinions[1].ranks, ElementsAre(2));
}

TEST(CompareVariables, AListThatMayLackSomeProvesNoAbsence) {
  auto dump = with_values({1, 1, 1});
  dump.ranks[2].variables->variables.erase(dump.ranks[2].variables->variables.begin());
  dump.ranks[2].variables->whole = false;
  auto job = compared(dump);
  EXPECT_THAT(job.differences, IsEmpty());
  EXPECT_EQ(job.unread, 1U);
  dump.ranks[2].variables->whole = true;
  dump.ranks[2].variables->sources = {VariableSource::recorder};
  job = compared(dump);
  EXPECT_THAT(job.differences, IsEmpty()) << "another source knows others";
  EXPECT_EQ(job.unread, 1U);
}

TEST(CompareVariables, AValueThatWasNotReadIsNone) {
  auto dump = with_values({1, 2, 1});
  dump.ranks[1].variables->variables[0].readings[0] = {.value = std::nullopt, .reason = "x"};
  const auto job = compared(dump);
  EXPECT_THAT(job.differences, IsEmpty());
  EXPECT_EQ(job.unread, 1U);
}

TEST(CompareVariables, RanksWithoutVariablesAreNamed) {
  auto dump = with_values({1, 2, 1});
  dump.ranks[1].variables.reset();
  const auto job = compared(dump);
  EXPECT_THAT(job.without, ElementsAre(1));
  EXPECT_THAT(job.ranks, ElementsAre(0, 2));
  EXPECT_THAT(job.differences, IsEmpty());
}

TEST(CompareVariables, EachJobByItself) {
  auto dump = with_values({1, 1, 2, 2});
  dump.ranks[0].job_id = dump.ranks[1].job_id = "a";
  dump.ranks[2].job_id = dump.ranks[3].job_id = "b";
  const auto jobs = compare_variables(dump, false);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].job_id, "a");
  EXPECT_THAT(jobs[0].differences, IsEmpty());
  EXPECT_THAT(jobs[1].ranks, ElementsAre(2, 3));
}

TEST(CompareVariables, ObjectsOfOneNameAreComparedOneByOne) {
  const auto rank = [](int number_, std::int64_t second) {
    auto length = performance("length", {.value = number(1), .object = "row"});
    length.readings.push_back({.value = number(second), .object = "row"});
    return rank_with(number_, {length});
  };
  const auto job = compared(dump_of({rank(0, 1), rank(1, 7)}), true);
  EXPECT_EQ(job.compared, 2U);
  EXPECT_EQ(job.differences.size(), 1U);
}

} // namespace
} // namespace mqbridge::test
