// The other architectures that Debian builds Open MPI for: less different from this machine than
// those of every run.

#include "tests/e2e/harness/foreign_truth.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

class MorePlatformsTest : public testing::TestWithParam<const char*> {};

TEST_P(MorePlatformsTest, DumpEqualsWhatWasPostedAndTheNativeOne) {
  const ForeignPlatform& platform = foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  for (const auto& scenario : lone_scenarios()) {
    SCOPED_TRACE(scenario);
    expect_foreign_truth(platform, scenario);
  }
}

TEST_P(MorePlatformsTest, ShippedPackIsWhatTheHeadersOfItsPlatformGive) {
  const ForeignPlatform& platform = foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_pack_as_shipped(platform);
}

INSTANTIATE_TEST_SUITE_P(Platforms, MorePlatformsTest, testing::Values("armhf", "arm64", "ppc64el"),
                         [](const auto& of) { return std::string(of.param); });

} // namespace
} // namespace mqbridge::e2e
