// All jobs of which is known why they hang, or that they do not, under the recorder: with Open MPI
// over shared memory and over UCX, and with MPICH. Also where each rank was looked at by itself.

#include "tests/e2e/harness/recorded_verdicts.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>
#include <random>

namespace mqbridge::e2e {
namespace {

void expect_recorded_verdict(const VerdictCase& param, const DumpOutcome& look) {
  const auto analysis = look.document.is_object()
                            ? look.document.value("analysis", nlohmann::json())
                            : nlohmann::json();
  EXPECT_THAT(verdict_differences(param, analysis), testing::IsEmpty())
      << look.err << analysis.dump(1);
}

class FullRecordedVerdictOf : public testing::TestWithParam<RecordedVerdict> {};

TEST_P(FullRecordedVerdictOf, ARealJobIsAsItsProgramMakesIt) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_for(GetParam()));
  VerdictJob job(GetParam().of, recorded_spec(GetParam()), {});
  expect_recorded_verdict(GetParam().of, job.look());
  EXPECT_EQ(job.finish(), "");
}

TEST_P(FullRecordedVerdictOf, RanksSeenAtMomentsOfTheirOwnIsTheSame) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_for(GetParam()));
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  VerdictJob job(GetParam().of, recorded_spec(GetParam()), {});
  expect_recorded_verdict(GetParam().of, job.look_apart(seed));
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(All, FullRecordedVerdictOf, testing::ValuesIn(recorded_verdicts()),
                         [](const auto& each) { return case_name(each.param); });

} // namespace
} // namespace mqbridge::e2e
