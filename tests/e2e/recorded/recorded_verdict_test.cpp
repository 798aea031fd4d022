// Real jobs under the recorder, of which is known why they hang, or that they do not: the verdict
// says so for every MPI. Some of each kind; all of them are in full/.

#include "tests/e2e/harness/recorded_verdicts.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <iterator>

namespace mqbridge::e2e {
namespace {

constexpr const char* chosen_names[] = {"ob1_waitall_ibarrier_3",     "ucx_send_ring_and_one_4",
                                        "ucx_order_of_collectives_2", "ucx_pingpong_2",
                                        "mpich_wildcard_behind_5",    "mpich_wrong_tag_2",
                                        "mpich_waitany_ibarrier_2",   "mpich_bcast_against_recv_4",
                                        "mpich_pingpong_2",           "ob1_spawned_2",
                                        "ob1_write_against_close_4",  "mpich_write_against_close_4",
                                        "mpich_fence_against_recv_2", "ob1_write_late_3"};

std::vector<RecordedVerdict> chosen() {
  auto all = recorded_verdicts();
  std::erase_if(all, [](const RecordedVerdict& each) {
    return std::ranges::find(chosen_names, case_name(each)) == std::end(chosen_names);
  });
  return all;
}

class RecordedVerdictOf : public testing::TestWithParam<RecordedVerdict> {};

TEST_P(RecordedVerdictOf, ARealJobIsAsItsProgramMakesIt) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_for(GetParam()));
  VerdictJob job(GetParam().of, recorded_spec(GetParam()), {});
  const DumpOutcome look = job.look();
  const auto analysis = look.document.value("analysis", nlohmann::json());
  EXPECT_THAT(verdict_differences(GetParam().of, analysis), testing::IsEmpty())
      << look.err << analysis.dump(1);
  if (GetParam().mpi == "ob1" || GetParam().mpi == "ucx") {
    EXPECT_EQ(look.document["ranks"][0]["mpi"]["transport"], GetParam().mpi);
  }
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Chosen, RecordedVerdictOf, testing::ValuesIn(chosen()),
                         [](const auto& each) { return case_name(each.param); });

TEST(RecordedVerdictCases, ThatAreChosenAreThere) {
  EXPECT_EQ(chosen().size(), std::size(chosen_names));
}

} // namespace
} // namespace mqbridge::e2e
