// Real jobs of which is known why they hang, or that they do not: the verdict says so, and says it
// also where each rank was looked at by itself, at a moment of its own.

#include "tests/e2e/harness/libfabric.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/one_request.h"
#include "tests/e2e/harness/ucx_verdicts.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>
#include <random>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::IsEmpty;

std::vector<VerdictCase> cases_of(const std::string& verdict) {
  std::vector<VerdictCase> chosen;
  for (const VerdictCase& each : verdict_cases())
    if (each.verdict == verdict)
      chosen.push_back(each);
  return chosen;
}

json analysis_of(const DumpOutcome& look) {
  return look.document.is_object() ? look.document.value("analysis", json()) : json();
}

void expect_verdict(const VerdictCase& param, const DumpOutcome& look) {
  EXPECT_THAT(verdict_differences(param, analysis_of(look)), IsEmpty())
      << look.err << analysis_of(look).dump(1);
}

class FullVerdictOf : public testing::TestWithParam<VerdictCase> {};

TEST_P(FullVerdictOf, ARealJobIsAsItsProgramMakesIt) {
  VerdictJob job(GetParam());
  expect_verdict(GetParam(), job.look());
  EXPECT_EQ(job.finish(), "");
}

TEST_P(FullVerdictOf, RanksSeenAtMomentsOfTheirOwnIsTheSame) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  VerdictJob job(GetParam());
  expect_verdict(GetParam(), job.look_apart(seed));
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(All, FullVerdictOf, testing::ValuesIn(verdict_cases()),
                         [](const auto& each) { return case_name(each.param); });

// What MPI_Isend and MPI_Irecv leave on the stack must not be taken for the request of an
// MPI_Sendrecv.
class ExchangeOf : public testing::TestWithParam<const char*> {};

TEST_P(ExchangeOf, IsTheSameWhateverStandsOnTheStack) {
  for (const VerdictCase& each : verdict_cases())
    for (const auto& variable : environments_of_stacks())
      if (each.scenario == GetParam()) {
        SCOPED_TRACE(variable.first + "=" + variable.second);
        JobSpec spec = verdict_spec(each);
        if (!variable.first.empty())
          spec.environment.push_back(variable);
        VerdictJob job(each, spec, {});
        expect_verdict(each, job.look());
        EXPECT_EQ(job.finish(), "");
      }
}

INSTANTIATE_TEST_SUITE_P(, ExchangeOf,
                         testing::Values("sendrecv_beside_isend", "sendrecv_beside_irecv",
                                         "sendrecv_from_nobody", "sendrecv_of_both",
                                         "sendrecv_receives"),
                         [](const auto& of) { return of.param; });

class SeenAgainAndAgain : public testing::TestWithParam<VerdictCase> {};

// The later one of two moments may find a rank just where a deadlock would have it.
TEST_P(SeenAgainAndAgain, IsNeverADeadlock) {
  constexpr int times = 6;
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  VerdictJob job(GetParam());
  for (int i = 0; i < times; ++i)
    expect_verdict(GetParam(), job.look_apart(seed + static_cast<std::uint32_t>(i), 1 + i % 2,
                                              std::chrono::milliseconds(90 * i)));
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(All, SeenAgainAndAgain, testing::ValuesIn(cases_of("no_deadlock")),
                         [](const auto& each) { return case_name(each.param); });

class FullVerdictOverUcx : public testing::TestWithParam<UcxVerdict> {};

TEST_P(FullVerdictOverUcx, IsNeverAnotherOne) {
  if (GetParam().mpich)
    MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  expect_verdict_over_ucx(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, FullVerdictOverUcx, testing::ValuesIn(ucx_verdicts()),
                         [](const auto& each) { return case_name(each.param); });

class FullVerdictOverLibfabric : public testing::TestWithParam<VerdictCase> {};

TEST_P(FullVerdictOverLibfabric, IsNeverAFalseOne) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_libfabric());
  if (case_name(GetParam()) == "sendrecv_receives_3" ||
      case_name(GetParam()) == "ibarrier_inside_3")
    GTEST_SKIP() << "over libfabric the program does not come to where it shall wait";
  verdict_over_libfabric(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, FullVerdictOverLibfabric, testing::ValuesIn(verdict_cases()),
                         [](const auto& each) { return case_name(each.param); });

class VerdictOfMpich : public testing::TestWithParam<VerdictCase> {};

TEST_P(VerdictOfMpich, IsAsFarAsItsQueuesAllow) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const JobSpec spec = mpich_job("verdict", {GetParam().scenario}, GetParam().ranks);
  VerdictJob job(GetParam(), spec, mpich_options());
  expect_verdict(GetParam(), job.look());
  expect_verdict(GetParam(), job.look_apart(seed));
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(All, VerdictOfMpich, testing::ValuesIn(mpich_verdict_cases()),
                         [](const auto& each) { return case_name(each.param); });

} // namespace
} // namespace mqbridge::e2e
