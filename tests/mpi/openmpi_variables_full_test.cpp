// Open MPI's variables in processes of other platforms, under qemu-user's stub: what is read is
// what the process itself reads through MPI_T (tests/inferiors/tool_variables.c).

#include "host/mpi/mpi_support.h"
#include "host/types/types_file.h"
#include "tests/e2e/harness/stopped_foreign.h"
#include "tests/mpi/said_variables.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::IsEmpty;

class OpenMpiVariablesOfPlatform : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Platforms, OpenMpiVariablesOfPlatform,
                         testing::Values("s390x", "armhf", "arm64", "ppc64el"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(OpenMpiVariablesOfPlatform, AreWhatTheProcessReadsThroughMpiT) {
  const auto& platform = e2e::foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  e2e::StoppedForeign stopped(platform, "tool_variables");
  auto& process = stopped.process();
  process.images().add_type_source(
      open_types_file(fmt::format("{}/openmpi-4.1.4-{}.types", MQBRIDGE_TEST_PACKS, GetParam()))
          .value());
  Warnings warnings;
  const auto all = support_of("openmpi").read_variables(process.space(), warnings);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_TRUE((*all)->whole);
  EXPECT_GT((*all)->variables.size(), 800U);
  test::expect_said(**all, test::said_by(stopped.directory()));
}

} // namespace
} // namespace mqbridge
