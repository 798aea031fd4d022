// The recorder's variables on other platforms, of the real Open MPI of each: 32 bits, big-endian.
// mqbridge reads them through a stub.

#include "host/mpi/mpi_support.h"
#include "tests/e2e/harness/stopped_foreign.h"
#include "tests/mpi/said_variables.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using e2e::ForeignPlatform;
using testing::IsEmpty;

class RecorderVariablesOn : public testing::TestWithParam<ForeignPlatform> {};

INSTANTIATE_TEST_SUITE_P(, RecorderVariablesOn,
                         testing::Values(e2e::foreign_platform("i386"),
                                         e2e::foreign_platform("s390x")),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecorderVariablesOn, AreWhatTheProcessReadsThroughMpiT) {
  const auto& platform = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  e2e::StoppedForeign stopped(platform, "tool_variables",
                              {.recorded = true, .environment = {{"MQBRIDGE_VARIABLES", "1"}}});
  Warnings warnings;
  const auto all = support_of("recorder").read_variables(stopped.process().space(), warnings);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_TRUE(*all);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_GT(std::ranges::count((*all)->variables, VariableKind::control, &Variable::kind), 800);
  test::expect_said(**all, test::said_by(stopped.directory()));
  const auto unexpected =
      std::ranges::find((*all)->variables, "pml_ob1_unexpected_msgq_length", &Variable::name);
  ASSERT_NE(unexpected, (*all)->variables.end());
  EXPECT_THAT(unexpected->readings, testing::SizeIs(2)) << "MPI_COMM_WORLD, MPI_COMM_SELF";
  for (const auto& reading : unexpected->readings)
    EXPECT_EQ(std::get<std::vector<std::uint64_t>>(reading.value.value()),
              std::vector<std::uint64_t>{0});
}

} // namespace
} // namespace mqbridge
