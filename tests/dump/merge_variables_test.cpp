#include "host/dump/rank/merge_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;

VariableValue number(std::int64_t value) {
  return std::vector<std::int64_t>{value};
}

Variable variable(const char* name, VariableReading reading) {
  Variable made;
  made.name = name;
  made.readings = {std::move(reading)};
  return made;
}

ProcessVariables of(VariableSource source, std::vector<Variable> variables) {
  ProcessVariables all;
  all.sources = {source};
  all.variables = std::move(variables);
  return all;
}

ProcessVariables recorded(std::vector<Variable> variables) {
  return of(VariableSource::recorder, std::move(variables));
}
ProcessVariables memory(std::vector<Variable> variables) {
  return of(VariableSource::memory, std::move(variables));
}

TEST(MergeVariables, TheMemorysValueIsNewer) {
  auto now = variable("limit", {number(2)});
  now.set_by = "environment";
  now.description = "of memory";
  auto then = variable("limit", {.value = number(1), .earlier = true, .age_s = 12.0});
  then.description = "of MPI_T";
  const auto all = merge_variables(recorded({then}), memory({now}));
  ASSERT_EQ(all.variables.size(), 1U);
  EXPECT_EQ(all.variables[0].description, "of MPI_T");
  EXPECT_EQ(all.variables[0].set_by, "environment");
  EXPECT_EQ(all.variables[0].readings[0].value, number(2));
  EXPECT_EQ(all.variables[0].readings[0].age_s, std::nullopt);
  EXPECT_FALSE(all.variables[0].readings[0].earlier);
  EXPECT_THAT(all.sources, ElementsAre(VariableSource::recorder, VariableSource::memory));
}

TEST(MergeVariables, AValueThatTheMemoryLacksStays) {
  auto now = variable("limit", {.value = std::nullopt, .reason = "unreadable"});
  const auto all = merge_variables(
      recorded({variable("limit", {.value = number(1), .earlier = true, .age_s = 12.0})}),
      memory({now}));
  EXPECT_EQ(all.variables[0].readings[0].value, number(1));
  EXPECT_EQ(all.variables[0].readings[0].age_s, 12.0);
  EXPECT_EQ(all.variables[0].readings[0].reason, "");
}

TEST(MergeVariables, ReadingsAreThoseOfTheSameObject) {
  auto then = variable("length", {number(1), "row", 7, true, 3.0});
  then.readings.push_back({number(2), "col", 8, true, 3.0});
  const auto all = merge_variables(
      recorded({then}),
      memory({variable("length", {.value = number(5), .object = "x", .context = 8})}));
  const auto& readings = all.variables.at(0).readings;
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].value, number(1));
  EXPECT_EQ(readings[1].value, number(5));
  EXPECT_EQ(readings[1].object, "col");
}

TEST(MergeVariables, WhatHasTheSameNameIsNotAlwaysTheSame) {
  auto level = variable("q", {.value = number(1), .earlier = true, .age_s = 1.0});
  level.kind = VariableKind::performance;
  level.pvar_class = VariableClass::level;
  auto mark = variable("q", {number(9)});
  mark.kind = VariableKind::performance;
  mark.pvar_class = VariableClass::highwatermark;
  const auto all = merge_variables(recorded({level}), memory({variable("q", {number(5)}), mark}));
  ASSERT_EQ(all.variables.size(), 3U);
  EXPECT_EQ(all.variables[0].kind, VariableKind::control) << "they come first";
  EXPECT_EQ(all.variables[1].readings[0].value, number(1));
  EXPECT_EQ(all.variables[2].readings[0].value, number(9));
}

TEST(MergeVariables, WhatOnlyTheMemoryHasKeepsItsCategoriesAndEnumeration) {
  auto from = memory({variable("late", {number(1)})});
  from.variables[0].categories = {2, 9};
  from.variables[0].enumeration = 1;
  from.categories = {{"x", "", {}}, {"btl", "", {2}}, {"btl_tcp", "", {1}}}; // in each other
  from.enumerations = {{"x", {}}, {"algorithm", {}}};
  auto to = recorded({});
  to.categories = {{"mpi", "", {}}, {"btl", "of MPI_T", {}}};
  from.whole = false;
  const auto all = merge_variables(std::move(to), std::move(from));
  ASSERT_EQ(all.categories.size(), 3U);
  ASSERT_THAT(all.variables.at(0).categories, ElementsAre(2));
  EXPECT_EQ(all.categories[2].name, "btl_tcp");
  EXPECT_THAT(all.categories[2].parents, ElementsAre(1));
  EXPECT_EQ(all.categories[1].description, "of MPI_T");
  EXPECT_EQ(all.enumerations.at(all.variables[0].enumeration.value()).name, "algorithm");
  EXPECT_FALSE(all.whole);
}

} // namespace
} // namespace mqbridge
