// Open MPI's variables in processes of other platforms, under qemu-user's stub: what is read is
// what the process itself reads through MPI_T (tests/inferiors/tool_variables.c).

#include "host/mpi/mpi_support.h"
#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "host/types/types_file.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/mpi/said_variables.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

class OpenMpiVariablesOfPlatform : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Platforms, OpenMpiVariablesOfPlatform,
                         testing::Values("s390x", "arm64", "ppc64el"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(OpenMpiVariablesOfPlatform, AreWhatTheProcessReadsThroughMpiT) {
  const auto& platform = e2e::foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  e2e::SingleProcess process([&](const auto& directory) {
    return foreign_command(platform, directory, {"signal"}, "tool_variables");
  });
  const auto socket = process.directory() / e2e::stub_socket;
  ASSERT_TRUE(test::eventually(10s, [&] { return std::filesystem::exists(socket); }));
  const auto client = test::connected("unix:" + socket.string());
  ASSERT_TRUE(client);
  ElfCache files(FilePaths{{files_of(platform).string(), "/"}});
  auto attachment = rsp::attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  const auto run = rsp::run_until(*client, {rsp::parse_signal("USR1")}, *attachment);
  ASSERT_TRUE(run) << run.error().message;
  auto target = StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files);
  ASSERT_TRUE(target) << target.error().message;
  Warnings warnings;
  ASSERT_TRUE((*target)->load_images(warnings));
  (*target)->images().add_type_source(
      open_types_file(fmt::format("{}/openmpi-4.1.4-{}.types", MQBRIDGE_TEST_PACKS, GetParam()))
          .value());
  const AddressSpace space = (*target)->space();
  warnings.clear();
  const auto all = support_of("openmpi").read_variables(space, warnings);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_TRUE((*all)->whole);
  EXPECT_GT((*all)->variables.size(), 800U);
  test::expect_said(**all, test::said_by(process.directory()));
}

} // namespace
} // namespace mqbridge
