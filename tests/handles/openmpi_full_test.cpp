// As openmpi_test.cpp, on other platforms: with pointers of four bytes, in the other byte order. A
// process that is alone runs under qemu-user's own stub.

#include "host/types/types_file.h"
#include "tests/e2e/harness/stopped_foreign.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

std::string pack_of(const std::string& platform) {
  return fmt::format("{}/openmpi-4.1.4-{}.types", MQBRIDGE_TEST_PACKS, platform);
}

TEST(OpenMpiHandlesOf32Bits, AreWhatTheProgramMade) {
  const auto& platform = e2e::foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking(platform));
  for (const int ranks : {1, 3})
    expect_told(e2e::foreign_job(platform, "handles", ranks), MQBRIDGE_HANDLES_DLL, i386(),
                pack_of("i386"));
}

class OpenMpiHandlesOf : public testing::TestWithParam<const char*> {};

TEST_P(OpenMpiHandlesOf, AreWhatTheProgramMade) {
  const auto& platform = e2e::foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking(platform));
  e2e::StoppedForeign stopped(platform, "handles");
  auto& process = stopped.process();
  process.images().add_type_source(open_types_file(pack_of(GetParam())).value());
  ToldHandles told(MQBRIDGE_HANDLES_DLL, process.space());
  ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
  const auto made = read_facts(stopped.directory() / "handles.0");
  EXPECT_GT(made.size(), 30U);
  expect_told(told, made);
}

INSTANTIATE_TEST_SUITE_P(Platforms, OpenMpiHandlesOf,
                         testing::Values("s390x", "armhf", "arm64", "ppc64el"),
                         [](const auto& tested) { return std::string(tested.param); });

} // namespace
} // namespace mqbridge
