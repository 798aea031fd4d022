// The recorder's variables on other platforms, of the real Open MPI of each: 32 bits, big-endian.
// mqbridge reads them through a stub.

#include "host/mpi/mpi_support.h"
#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/mpi/said_variables.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using e2e::ForeignPlatform;
using e2e::SingleProcess;
using testing::IsEmpty;

/// tool_variables of that platform with its recorder. Under the emulator's stub it stands at its
/// entry, and raises SIGUSR1 when it has said everything.
test::ChildSpec recorded(const ForeignPlatform& platform, const std::filesystem::path& directory) {
  const bool emulated = !platform.emulator.empty();
  auto spec = foreign_command(platform, directory, {emulated ? "signal" : ""}, "tool_variables");
  const auto recorder = foreign_recorder(platform, directory);
  if (emulated)
    spec.argv.insert(spec.argv.begin() + 1, {"-E", "LD_PRELOAD=" + recorder.string()});
  else
    spec.environment.emplace_back("LD_PRELOAD", recorder.string());
  spec.environment.emplace_back("MQBRIDGE_VARIABLES", "1");
  return spec;
}

class RecorderVariablesOn : public testing::TestWithParam<ForeignPlatform> {};

INSTANTIATE_TEST_SUITE_P(, RecorderVariablesOn,
                         testing::Values(e2e::foreign_platform("i386"),
                                         e2e::foreign_platform("s390x")),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecorderVariablesOn, AreWhatTheProcessReadsThroughMpiT) {
  const auto& platform = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  SingleProcess process([&](const auto& directory) { return recorded(platform, directory); });
  std::optional<test::GdbServer> server;
  std::string endpoint = "unix:" + (process.directory() / e2e::stub_socket).string();
  if (platform.emulator.empty()) {
    process.await_ready();
    server.emplace(test::ServerMode::attach, process.pid());
    endpoint = server->endpoint();
  } else {
    ASSERT_TRUE(test::eventually(
        10s, [&] { return std::filesystem::exists(process.directory() / e2e::stub_socket); }));
  }
  const auto client = test::connected(endpoint);
  ASSERT_TRUE(client);
  auto attachment = rsp::attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  if (!platform.emulator.empty()) {
    const auto run = rsp::run_until(*client, {rsp::parse_signal("USR1")}, *attachment);
    ASSERT_TRUE(run) << run.error().message;
  }
  ElfCache files(FilePaths{{files_of(platform).string(), "/"}});
  auto target = StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files);
  ASSERT_TRUE(target) << target.error().message;
  Warnings warnings;
  const auto loaded = (*target)->load_images(warnings);
  ASSERT_TRUE(loaded) << loaded.error().message;
  warnings.clear();
  const auto all =
      support_of("recorder")
          .read_variables({(*target)->images(), (*target)->memory(), (*target)->platform()},
                          warnings);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_TRUE(*all);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_GT(std::ranges::count((*all)->variables, VariableKind::control, &Variable::kind), 800);
  test::expect_said(**all, test::said_by(process.directory()));
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
