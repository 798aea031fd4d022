// As recorder_test.cpp, on other platforms: with pointers of four bytes, in the other byte order.
// Through a stub.

#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/handles/recorded_told.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using e2e::ForeignPlatform;

/// The program with the recorder of its platform. Under the emulator's stub it stands at its entry,
/// and raises SIGUSR1 when it has made everything.
test::ChildSpec recorded(const ForeignPlatform& platform, const std::filesystem::path& directory) {
  const bool emulated = !platform.emulator.empty();
  auto spec = foreign_command(platform, directory, {emulated ? "signal" : ""}, "handles");
  const auto recorder = foreign_recorder(platform, directory);
  if (emulated)
    spec.argv.insert(spec.argv.begin() + 1, {"-E", "LD_PRELOAD=" + recorder.string()});
  else
    spec.environment.emplace_back("LD_PRELOAD", recorder.string());
  return spec;
}

class RecordedHandlesOn : public testing::TestWithParam<ForeignPlatform> {};

INSTANTIATE_TEST_SUITE_P(, RecordedHandlesOn,
                         testing::Values(e2e::foreign_platform("i386"),
                                         e2e::foreign_platform("s390x")),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecordedHandlesOn, AreWhatTheProgramMade) {
  const auto& platform = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  e2e::SingleProcess process([&](const auto& directory) { return recorded(platform, directory); });
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
  ASSERT_TRUE((*target)->load_images(warnings));
  ToldHandles told(MQBRIDGE_HANDLES_DLL, (*target)->space());
  ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
  const auto made = read_facts(process.directory() / "handles.0");
  EXPECT_GT(made.size(), 30U);
  expect_recorded(told, made);
}

} // namespace
} // namespace mqbridge
