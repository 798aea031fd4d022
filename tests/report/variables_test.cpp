#include "host/report/text_report.h"
#include "host/report/tsv_report.h"
#include "tests/document/sample_dump.h"
#include "tests/document/sample_variables.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string variables_text(const Dump& dump, TextOptions options = {}) {
  return written([&](const Sink& sink) { write_variables(dump, options, sink); });
}

std::string tsv_of(const Dump& dump) {
  return written([&](const Sink& sink) { write_variables_tsv(dump, sink); });
}

TEST(VariablesText, OneRankHasALineForEach) {
  auto limit = control("limit", number(65536), "environment");
  limit.scope = VariableScope::all_eq;
  const auto text = variables_text(dump_of(
      {rank_with(0, {limit, control("path", std::string(), "default"),
                     performance("length", {number(3), "MPI_COMM_WORLD", {}, true, 20.0})})}));
  EXPECT_THAT(text, HasSubstr("mqbridge vars   1 rank, 1 complete"));
  EXPECT_THAT(text, HasSubstr("rank 0: Open MPI 4.1.4: 2 control and 1 performance variables; from "
                              "the memory of the MPI\n"));
  EXPECT_THAT(text,
              HasSubstr("\n"
                        "CONTROL VARIABLE  LEVEL       TYPE     SCOPE     SET BY       VALUE\n"
                        "limit             user_basic  MPI_INT  all_eq    environment  65536\n"
                        "path              user_basic  MPI_INT  readonly  default      \"\"\n"));
  EXPECT_THAT(text,
              HasSubstr("\nlength of MPI_COMM_WORLD  user_detail  MPI_UNSIGNED  level  3  20.0 "
                        "s before the stop\n"));
}

TEST(VariablesText, RanksThatSayTheSameAreOneLine) {
  const auto text =
      variables_text(dump_of({rank_with(0, {control("limit", number(1), "default")}),
                              rank_with(1, {control("limit", number(2), "environment")}),
                              rank_with(2, {control("limit", number(1), "default")})}));
  EXPECT_THAT(text, HasSubstr("readonly  default      0,2    1\n"));
  EXPECT_THAT(text, ContainsRegex("\n +environment  1      2\n"));
}

TEST(VariablesText, OfARankWithoutThemIsNoEmptyList) {
  RankDump rank = rank_with(0, {});
  rank.variables.reset();
  rank.errors = {{"variables.unknown", RankError::Level::error, "nothing is known", ""}};
  EXPECT_THAT(variables_text(dump_of({rank})), Not(HasSubstr("\n\n\n")));
}

TEST(VariablesText, WhatIsNotKnownIsNoValue) {
  Variable unread = control("unread", number(0));
  unread.readings = {{.value = std::nullopt, .reason = "no memory"}};
  unread.verbosity.reset();
  Variable without = control("without", number(0));
  without.readings.clear();
  const auto text = variables_text(dump_of({rank_with(0, {unread, without})}));
  EXPECT_THAT(text, ContainsRegex("unread +\\?  +MPI_INT +readonly  \\?  no memory\n"));
  EXPECT_THAT(text, ContainsRegex("without +user_basic  MPI_INT +readonly  \\?\n"));
}

TEST(VariablesText, DetailsAreThereInFull) {
  auto dump = dump_of({rank_with(0, {})});
  dump.ranks[0].variables = rich_variables();
  EXPECT_THAT(variables_text(dump), Not(HasSubstr("values: ")));
  TextOptions full;
  full.full = true;
  const auto text = variables_text(dump, full);
  EXPECT_THAT(text, HasSubstr("\n    two\n    lines\n    in btl_tcp, btl\n    values: -3 ring, 4 "
                              "tree\n"));
  EXPECT_THAT(text, HasSubstr("-3 (ring)\n"));
  EXPECT_THAT(text, HasSubstr("of 1,143, and more that were not read; from the recorder and the "
                              "memory of the MPI\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "names are the target's";
}

TEST(VariablesText, NoLineIsWiderThanThePageButByAValue) {
  auto dump = dump_of({rank_with(0, {control(std::string(50, 'n'), std::string(300, 'v'))})});
  dump.ranks[0].variables->variables.push_back(
      control("x", number(1), "file /etc/some/where.conf"));
  TextOptions narrow;
  narrow.width = 80;
  const auto text = variables_text(dump, narrow);
  EXPECT_THAT(text, HasSubstr("no room for LEVEL, TYPE, SCOPE: --format tsv has them\n"));
  EXPECT_THAT(text, HasSubstr(std::string(300, 'v') + "\n")) << "never cut";
  EXPECT_THAT(text, ContainsRegex("\nx +file /etc/some/where.conf  1\n"));
}

Dump differing() {
  const auto ranks = [](const char* set_by, std::int64_t value) {
    return std::vector{control("limit", number(value), set_by),
                       control("other", number(value / 2))};
  };
  auto dump = dump_of({rank_with(0, ranks("default", 10)), rank_with(1, ranks("default", 10)),
                       rank_with(2, ranks("environment", 20)), rank_with(3, ranks("default", 10))});
  JobVariableDifferences job;
  job.ranks = {0, 1, 2, 3};
  job.compared = 1143;
  job.performance = 1003;
  job.own = {"vpid"};
  job.differences = {{.name = "limit", .scope = VariableScope::all_eq, .majority = true},
                     {.name = "other", .scope = {}, .majority = true}};
  job.differences[0].opinions = {{{0, 1, 3}, true, number(10), "ten", "default"},
                                 {{2}, true, number(20), "", "environment"}};
  job.differences[1].opinions = {{{0, 1, 3}, true, number(5)}, {{2}, false, std::nullopt}};
  dump.variable_differences = {job};
  return dump;
}

TEST(DifferencesText, SaysWhichRankDiffersInWhat) {
  const auto text = variables_text(differing());
  EXPECT_THAT(text, HasSubstr("\nrank 2 differs in 2 of 1,143 variables\n"
                              "  VARIABLE  HERE                SET BY       MOST RANKS  SET BY\n"
                              "  limit     20                  environment  10 (ten)    default\n"
                              "  other     (no such variable)               5\n"
                              "the MPI wants the same value on all ranks (scope all_eq or "
                              "group_eq) of limit\n"
                              "left out: 1,003 performance variables (--all)\n"
                              "left out, each process has its own value: vpid (--all)\n"));
}

TEST(DifferencesText, RanksThatDifferAlikeAreToldOfTogether) {
  auto dump = differing();
  for (auto& difference : dump.variable_differences->at(0).differences) {
    difference.opinions[0].ranks = {0, 1};
    difference.opinions[1].ranks = {2, 3};
  }
  EXPECT_THAT(variables_text(dump), HasSubstr("\nranks 2-3 differ in 2 of 1,143 variables\n"));
}

TEST(DifferencesText, WithoutAMajorityEachValueHasItsRanks) {
  auto dump = differing();
  auto& job = dump.variable_differences->at(0);
  job.differences.pop_back();
  job.differences[0].majority = false;
  job.differences[0].opinions[0].ranks = {0, 1};
  job.differences[0].opinions[1].ranks = {2, 3};
  EXPECT_THAT(variables_text(dump),
              HasSubstr("\n1 of 1,143 variables has values of which none is that of most ranks\n"
                        "  VARIABLE  RANKS  SET BY       VALUE\n"
                        "  limit     0-1    default      10 (ten)\n"
                        "            2-3    environment  20\n"));
}

TEST(DifferencesText, AgreementSaysInWhat) {
  auto dump = differing();
  auto& job = dump.variable_differences->at(0);
  job.differences.clear();
  job.without = {3};
  job.ranks = {0, 1, 2};
  job.unread = 2;
  const auto text = variables_text(dump);
  EXPECT_THAT(text, HasSubstr("\nall 3 ranks agree in 1,143 variables\n"));
  EXPECT_THAT(text, HasSubstr("not compared: 2 variables, of which not every rank says the value"));
  EXPECT_THAT(text, HasSubstr("not compared: rank 3, of which no variables are known"));
}

TEST(DifferencesText, OneRankIsNotCompared) {
  auto dump = differing();
  dump.variable_differences->at(0).differences.clear();
  dump.variable_differences->at(0).ranks = {0};
  EXPECT_THAT(variables_text(dump), HasSubstr("one rank alone: there is nothing to compare"));
  EXPECT_THAT(variables_text(dump), Not(HasSubstr("agree")));
}

TEST(UnexpectedText, NamesTheLongQueues) {
  auto dump = dump_of({rank_with(0, {}), rank_with(1, {}), rank_with(2, {})});
  UnexpectedLengths lengths;
  lengths.longer_than = 100;
  lengths.queues = {
      {1, "pml_ob1_unexpected_msgq_length", "MPI_COMM_WORLD", 1200, {0, 2}, true, 0.25},
      {1, "pml_ob1_unexpected_msgq_length", "row", 101, {}}};
  lengths.counted = {0, 1};
  lengths.unknown = {2};
  dump.unexpected_lengths = lengths;
  const auto text = variables_text(dump);
  EXPECT_THAT(text, HasSubstr("\n1 of 3 ranks has more than 100 unexpected messages\n"));
  EXPECT_THAT(text, ContainsRegex(" 1 +1,200  MPI_COMM_WORLD  0,2 +250 ms before the stop"));
  EXPECT_THAT(text, ContainsRegex(" 1 +101  row +the stop"));
  EXPECT_THAT(text, HasSubstr("not known, which is not 0: rank 2"));
}

TEST(VariablesTsv, ALineForEachReading) {
  auto dump = dump_of({rank_with(0, {})});
  dump.ranks[0].variables = rich_variables();
  const auto text = tsv_of(dump);
  const auto columns =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find('\n')), '\t');
  std::istringstream in(text);
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(in, line)) {
    EXPECT_EQ(std::ranges::count(line, '\t'), columns) << line;
    lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 2U + 6U) << "titles, rank, six readings";
  EXPECT_THAT(
      lines[2],
      ContainsRegex("^control\t0\t.*\tknown\teager \"limit\" .*\t-3\tring\tfile /etc/a b.conf\t"));
  EXPECT_THAT(lines[2], HasSubstr("\tbtl_tcp,btl\t"));
  EXPECT_THAT(lines[4], HasSubstr("\tunknown\tunread\t"));
  EXPECT_THAT(lines[4], HasSubstr("\tMPI_T_ERR_INVALID\t"));
  EXPECT_THAT(lines[5], HasSubstr("\tlength\trow\t0 18446744073709551615\t"));
  EXPECT_THAT(lines[5], HasSubstr("\t0x8000000000000001\ttrue\t0.25\t"));
}

TEST(VariablesTsv, DifferencesComeLast) {
  const auto text = tsv_of(differing());
  EXPECT_THAT(text, ContainsRegex("\ndifference\t2\t[^\n]*\tother\tlimit\t\t20\t\tenvironment\t"));
  EXPECT_THAT(text,
              ContainsRegex("\ndifference\t0\t[^\n]*\tmajority\tlimit\t\t10\tten\tdefault\t"));
  EXPECT_THAT(text, ContainsRegex("\ndifference\t2\t[^\n]*\tabsent\tother\t"));
}

} // namespace
} // namespace mqbridge::test
