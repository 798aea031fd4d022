#include "host/dump/values/variable_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Pattern, IsWhatAShellTakes) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  for (const Case& each : {Case{"", "", true},
                           {"", "a", false},
                           {"*", "", true},
                           {"*", "abc", true},
                           {"btl_*", "btl_tcp", true},
                           {"btl_*", "xbtl_tcp", false},
                           {"*_tcp", "btl_tcp", true},
                           {"*_tcp", "btl_tcp_x", false},
                           {"?tl", "btl", true},
                           {"?tl", "tl", false},
                           {"a*b*c", "axxbyyc", true},
                           {"a*b*c", "axxbyy", false},
                           {"*ab", "aab", true},
                           {"BTL*", "btl_tcp", true},
                           {"a**", "a", true},
                           {"a?", "a", false}})
    EXPECT_EQ(matches_pattern(each.pattern, each.text), each.matches)
        << each.pattern << " " << each.text;
}

TEST(Pattern, TakesNoTimeWithoutEnd) {
  const std::string text(20'000, 'a');
  EXPECT_FALSE(matches_pattern("*a*a*a*a*a*a*a*a*b", text));
}

/// Four variables, in three categories of which one is inside of another.
ProcessVariables some() {
  const auto variable = [](const char* name, Verbosity verbosity, const char* set_by,
                           std::vector<std::size_t> categories) {
    Variable made;
    made.name = name;
    made.verbosity = verbosity;
    made.set_by = set_by;
    made.categories = std::move(categories);
    return made;
  };
  ProcessVariables all;
  all.categories = {{"other", "", {}}, {"btl", "", {}}, {"btl_tcp", "", {1}}};
  all.enumerations = {{"unused", {}}, {"used", {}}};
  all.variables = {variable("mpi_x", Verbosity::user_basic, "default", {0}),
                   variable("btl_tcp_limit", Verbosity::tuner_basic, "file /etc/x", {2}),
                   variable("btl_base", Verbosity::mpidev_all, "", {1})};
  all.variables[1].enumeration = 1;
  all.variables.push_back(variable("pvar", Verbosity::user_all, "", {0}));
  all.variables.back().kind = VariableKind::performance;
  return all;
}

/// A filter of which some members are set.
VariableFilter filter_of(auto set) {
  VariableFilter filter;
  set(filter);
  return filter;
}

std::vector<std::string> kept(auto set) {
  const auto filter = filter_of(set);
  auto all = some();
  leave_out_unwanted(filter, all);
  std::vector<std::string> names;
  for (const auto& variable : all.variables)
    names.push_back(variable.name);
  return names;
}

TEST(VariableFilter, WithoutOneNothingIsLeftOut) {
  auto all = some();
  EXPECT_EQ(leave_out_unwanted({}, all), 0U);
  EXPECT_EQ(all.variables.size(), 4U);
  EXPECT_EQ(all.categories.size(), 3U);
  EXPECT_EQ(all.total, std::nullopt);
}

TEST(VariableFilter, KeepsWhatWasAskedFor) {
  EXPECT_THAT(kept([](auto& f) { f.verbosity = Verbosity::tuner_basic; }),
              ElementsAre("mpi_x", "btl_tcp_limit", "pvar"));
  EXPECT_THAT(kept([](auto& f) {
                f.patterns = {"btl*", "*x"};
              }),
              ElementsAre("mpi_x", "btl_tcp_limit", "btl_base"));
  EXPECT_THAT(kept([](auto& f) { f.sources = {"file"}; }), ElementsAre("btl_tcp_limit"));
  EXPECT_THAT(kept([](auto& f) {
                f.sources = {"default", "file"};
              }),
              ElementsAre("mpi_x", "btl_tcp_limit"));
  EXPECT_THAT(kept([](auto& f) { f.sources = {"fil"}; }), IsEmpty());
  EXPECT_THAT(kept([](auto& f) { f.kind = VariableKind::performance; }), ElementsAre("pvar"));
  EXPECT_THAT(kept([](auto& f) {
                f.patterns = {"*"};
                f.kind = VariableKind::control;
              }).size(),
              3U);
}

TEST(VariableFilter, ACategoryHasThoseInsideOfIt) {
  EXPECT_THAT(kept([](auto& f) { f.categories = {"btl"}; }),
              ElementsAre("btl_tcp_limit", "btl_base"));
  EXPECT_THAT(kept([](auto& f) { f.categories = {"btl_tcp"}; }), ElementsAre("btl_tcp_limit"));
}

TEST(VariableFilter, CategoriesThatAreInEachOtherComeToAnEnd) {
  auto all = some();
  all.categories[1].parents = {2};
  all.variables[0].categories = {2, 77};
  leave_out_unwanted(filter_of([](auto& f) { f.categories = {"btl_tcp"}; }), all);
  EXPECT_EQ(all.variables.size(), 3U);
  EXPECT_EQ(all.categories.size(), 2U);
}

TEST(VariableFilter, AVerbosityThatIsNotKnownMayBeTheOne) {
  auto all = some();
  all.variables[2].verbosity.reset();
  leave_out_unwanted(filter_of([](auto& f) { f.verbosity = Verbosity::user_basic; }), all);
  EXPECT_EQ(all.variables.size(), 2U);
}

TEST(VariableFilter, TellsOfHowManyNobodyKnowsWhoSetThem) {
  auto all = some();
  EXPECT_EQ(leave_out_unwanted(filter_of([](auto& f) { f.sources = {"file"}; }), all), 1U)
      << "btl_base, and no pvar";
}

TEST(VariableFilter, IndexesAreThoseOfWhatIsLeft) {
  auto all = some();
  leave_out_unwanted(filter_of([](auto& f) { f.patterns = {"btl_tcp*"}; }), all);
  EXPECT_EQ(all.total, 4U);
  ASSERT_EQ(all.variables.size(), 1U);
  ASSERT_EQ(all.categories.size(), 2U) << "its own, and the one that holds it";
  ASSERT_EQ(all.enumerations.size(), 1U);
  const auto& category = all.categories.at(all.variables[0].categories.at(0));
  EXPECT_EQ(category.name, "btl_tcp");
  EXPECT_EQ(all.categories.at(category.parents.at(0)).name, "btl");
  EXPECT_EQ(all.enumerations.at(*all.variables[0].enumeration).name, "used");
}

} // namespace
} // namespace mqbridge
