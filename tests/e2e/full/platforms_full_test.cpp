// As platforms_test.cpp, on more platforms.

#include "tests/e2e/harness/recorder_poster.h"
#include "tests/support/requirements.h"

namespace mqbridge::e2e {
namespace {

class RecorderOnMore : public testing::TestWithParam<const char*> {};

TEST_P(RecorderOnMore, DumpEqualsWhatWasRecordedAndTheNativeOne) {
  const RecorderPlatform& platform = recorder_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_recorded_truth(platform);
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecorderOnMore,
                         testing::Values("sparc64", "ppc64", "arm", "aarch64", "riscv64"),
                         [](const auto& of) { return std::string(of.param); });

} // namespace
} // namespace mqbridge::e2e
