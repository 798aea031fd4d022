// Real jobs of which is known why they hang, or that they do not: the verdict says so. Some of
// each kind; all of them are in full/.

#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/host_mpi.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using testing::IsEmpty;

std::vector<VerdictCase> chosen_cases() {
  std::vector<VerdictCase> chosen;
  for (const char* name :
       {"recv_ring_2", "send_ring_and_one_4", "wildcard_behind_5", "wrong_tag_2", "wait_second_3",
        "waitall_ibarrier_3", "order_of_collectives_2", "early_exit_3", "finalize_by_some_3",
        "straggler_of_allreduce_4", "pingpong_2", "waitany_one_works_3", "threads_logger_4",
        "generalized_request_3"})
    for (const VerdictCase& each : verdict_cases())
      if (case_name(each) == name)
        chosen.push_back(each);
  return chosen;
}

class VerdictOf : public testing::TestWithParam<VerdictCase> {};

TEST_P(VerdictOf, ARealJobIsAsItsProgramMakesIt) {
  if (GetParam().scenario.starts_with("early_exit"))
    MQBRIDGE_SKIP_IF_NOT_OPENMPI("4."); // PRRTE ends the whole job
  VerdictJob job(GetParam());
  const DumpOutcome look = job.look();
  EXPECT_THAT(verdict_differences(GetParam(), look.document.value("analysis", nlohmann::json())),
              IsEmpty())
      << look.err << look.document.value("analysis", nlohmann::json()).dump(1);
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Chosen, VerdictOf, testing::ValuesIn(chosen_cases()),
                         [](const auto& each) { return case_name(each.param); });

/// The exit status of a look with --fail-on stuck.
int status_of_stuck(const std::string& name) {
  const auto& all = verdict_cases();
  const auto param =
      std::ranges::find_if(all, [&](const VerdictCase& each) { return case_name(each) == name; });
  VerdictJob job(*param, verdict_spec(*param), {"--fail-on", "stuck"});
  const int status = job.look().status();
  EXPECT_EQ(job.finish(), "");
  return status;
}

// A thread sleeps beside those that wait for each other: undecided, and nothing moves.
TEST(FailOnStuck, IsMetByAnUndecidedJobThatStandsStill) {
  EXPECT_EQ(status_of_stuck("threads_logger_4"), 4);
}

TEST(FailOnStuck, IsNotMetByAJobThatMoves) {
  EXPECT_EQ(status_of_stuck("pingpong_2"), 0);
}

TEST(VerdictCases, ThatAreChosenAreThere) {
  EXPECT_EQ(chosen_cases().size(), 14);
}

} // namespace
} // namespace mqbridge::e2e
