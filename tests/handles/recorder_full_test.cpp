// As recorder_test.cpp, on other platforms: with pointers of four bytes, in the other byte order.
// Through a stub.

#include "tests/e2e/harness/stopped_foreign.h"
#include "tests/handles/recorded_told.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using e2e::ForeignPlatform;

class RecordedHandlesOn : public testing::TestWithParam<ForeignPlatform> {};

INSTANTIATE_TEST_SUITE_P(, RecordedHandlesOn,
                         testing::Values(e2e::foreign_platform("i386"),
                                         e2e::foreign_platform("s390x")),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecordedHandlesOn, AreWhatTheProgramMade) {
  const auto& platform = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  e2e::StoppedForeign stopped(platform, "handles", {.recorded = true});
  ToldHandles told(MQBRIDGE_HANDLES_DLL, stopped.process().space());
  ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
  const auto made = read_facts(stopped.directory() / "handles.0");
  EXPECT_GT(made.size(), 30U);
  expect_recorded(told, made);
}

} // namespace
} // namespace mqbridge
