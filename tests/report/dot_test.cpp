// Who waits for whom, for Graphviz.

#include "host/report/dot_report.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::HasSubstr;

std::string dot_of(const Dump& dump) {
  std::string text;
  write_dot(dump, [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(DotReport, NamesAreLabelsAndNothingElse) {
  Dump dump;
  Analysis& analysis = dump.analysis.emplace();
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = Confidence::certain;
  analysis.core = {{0, 1, 1}};
  analysis.waits = {{.rank = 0, .ranks = {{1, 1, 1}}, .because = "MPI_Recv on \"a\\\"; x -> y\n"},
                    {.rank = 1, .ranks = {{0, 0, 1}}, .because = "MPI_Recv", .place = "a.c:1"}};
  EXPECT_EQ(dot_of(dump), R"(digraph waits {
  label="DEADLOCK (certain): 2 ranks can never go on";
  labelloc=t;
  node [shape=box];
  n0 [label="rank 0: MPI_Recv on \"a\\\"; x -> y\\x0a", peripheries=2];
  n0 -> n1;
  n1 [label="rank 1: MPI_Recv at a.c:1", peripheries=2];
  n1 -> n0;
}
)");
}

TEST(DotReport, AWaitForAnyOfSeveralIsADiamond) {
  Dump dump;
  Analysis& analysis = dump.analysis.emplace();
  analysis.verdict = Verdict::no_deadlock;
  analysis.waits = {{.rank = 2, .mode = WaitsFor::any, .ranks = {{0, 1, 1}}, .because = "x"}};
  EXPECT_THAT(dot_of(dump), HasSubstr(R"(  n0 [label="rank 2: x"];
  any0 [label="any", shape=diamond];
  n0 -> any0;
  any0 -> n1;
  any0 -> n2;
  n1 [label="rank 0"];
  n2 [label="rank 1"];
)"));
}

TEST(DotReport, RanksOfOtherJobsAreNodesOfTheirOwn) {
  Dump dump;
  Analysis& analysis = dump.analysis.emplace();
  analysis.by_job = {{"a", {}}, {"b", {}}};
  analysis.waits = {
      {.rank = 0, .ranks = {}, .because = "x", .job_id = "a", .elsewhere = {{"b", {{0, 0, 1}}}}}};
  EXPECT_THAT(dot_of(dump), HasSubstr(R"(  n0 [label="rank 0 of job a: x"];
  n0 -> n1;
  n1 [label="rank 0 of job b"];
)"));
}

TEST(DotReport, WithoutAVerdictItSaysSo) {
  EXPECT_THAT(dot_of(Dump()), HasSubstr("no verdict"));
}

} // namespace
} // namespace mqbridge
