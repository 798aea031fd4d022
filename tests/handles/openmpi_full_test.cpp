// As openmpi_test.cpp, on other platforms: with pointers of four bytes, in the other byte order. A
// process that is alone runs under qemu-user's own stub.

#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "host/types/types_file.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

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

/// A singleton under qemu-user, which holds it at its entry.
class Emulated {
public:
  explicit Emulated(const e2e::ForeignPlatform& platform)
      : links_(e2e::make_plugin_links(platform)), process_([&](const auto& directory) {
          auto spec = e2e::foreign_command(platform, directory, {"signal"}, "handles");
          if (!links_.empty())
            spec.environment.emplace_back(e2e::component_path, links_.string());
          return spec;
        }) {}
  ~Emulated() {
    if (!links_.empty())
      std::filesystem::remove_all(links_);
  }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;

  const std::filesystem::path& directory() const { return process_.directory(); }
  std::filesystem::path socket() const { return directory() / e2e::stub_socket; }

private:
  std::filesystem::path links_;
  e2e::SingleProcess process_;
};

class OpenMpiHandlesOf : public testing::TestWithParam<const char*> {};

TEST_P(OpenMpiHandlesOf, AreWhatTheProgramMade) {
  const auto& platform = e2e::foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking(platform));
  const Emulated process(platform);
  ASSERT_TRUE(test::eventually(10s, [&] { return std::filesystem::exists(process.socket()); }));
  const auto client = test::connected("unix:" + process.socket().string());
  ASSERT_TRUE(client);
  ElfCache files(FilePaths{{e2e::files_of(platform).string(), "/"}});
  auto attachment = rsp::attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  const auto run = rsp::run_until(*client, {rsp::parse_signal("USR1")}, *attachment);
  ASSERT_TRUE(run) << run.error().message;
  auto target = StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files);
  ASSERT_TRUE(target) << target.error().message;
  Warnings warnings;
  ASSERT_TRUE((*target)->load_images(warnings));
  (*target)->images().add_type_source(open_types_file(pack_of(GetParam())).value());
  ToldHandles told(MQBRIDGE_HANDLES_DLL, (*target)->space());
  ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
  const auto made = read_facts(process.directory() / "handles.0");
  EXPECT_GT(made.size(), 30U);
  expect_told(told, made);
}

INSTANTIATE_TEST_SUITE_P(Platforms, OpenMpiHandlesOf,
                         testing::Values("s390x", "armhf", "arm64", "ppc64el"),
                         [](const auto& tested) { return std::string(tested.param); });

} // namespace
} // namespace mqbridge
