// Ctrl-C and kill -9 at a few moments of dumps of jobs on other nodes: no rank stays stopped,
// and nothing stays behind on any node.

#include "tests/e2e/harness/ended_dumps.h"
#include "tests/support/requirements.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

class EndedDumpsTest : public testing::TestWithParam<EndedDumps> {};

TEST_P(EndedDumpsTest, LeaveNoRankStoppedAndNothingBehind) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  expect_nothing_is_left(GetParam(), 4);
}

INSTANTIATE_TEST_SUITE_P(, EndedDumpsTest,
                         testing::Values(EndedDumps{"ssh", SIGKILL}, EndedDumps{"srun", SIGINT}),
                         [](const auto& of) { return name_of(of.param); });

} // namespace
} // namespace mqbridge::e2e
