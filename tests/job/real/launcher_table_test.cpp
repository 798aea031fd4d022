// The table of a launcher, whatever it runs on.

#include "host/job/launcher_table.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/job/real/found_jobs.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <thread>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;

struct StarterPlatform {
  std::string architecture;
  std::string emulator; ///< empty: this machine's kernel runs it
};

void PrintTo(const StarterPlatform& platform, std::ostream* out) {
  *out << platform.architecture;
}

std::string program_of(const StarterPlatform& platform) {
  return fmt::format("{}/inferiors/starter-{}", MQBRIDGE_BINARY_DIRECTORY, platform.architecture);
}

/// "RANK HOST PID EXECUTABLE" of each.
std::vector<std::string> entries_of(const Result<LauncherTable>& read) {
  if (!read)
    return {fmt::format("{}: {}", read.error().code, read.error().message)};
  std::vector<std::string> entries;
  for (const auto& entry : read->table.entries)
    entries.push_back(
        fmt::format("{} {} {} {}", entry.rank, entry.host, entry.pid, entry.executable));
  return entries;
}

struct LauncherOf : testing::TestWithParam<StarterPlatform> {};

INSTANTIATE_TEST_SUITE_P(Platforms, LauncherOf,
                         testing::Values(StarterPlatform{"i386", ""},
                                         StarterPlatform{"s390x", "qemu-s390x-static"},
                                         StarterPlatform{"ppc", "qemu-ppc-static"},
                                         StarterPlatform{"m68k", "qemu-m68k-static"},
                                         StarterPlatform{"armhf", "qemu-arm-static"}),
                         testing::PrintToStringParamName());

TEST_P(LauncherOf, AnyPlatformSaysItsRanks) {
  const auto program = program_of(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(std::filesystem::exists(program) ? "" : "no " + program);
  MQBRIDGE_SKIP_IF_LACKING(GetParam().emulator.empty() ? lacking_ia32() : "");
  std::optional<RealStub> stub;
  std::optional<ChildProcess> process;
  if (GetParam().emulator.empty())
    process.emplace(ChildSpec{{program}});
  else
    stub.emplace(std::vector<std::string>{GetParam().emulator, "-g", "{socket}", program});
  const auto target =
      TargetSpec::parse(stub ? stub->endpoint() : e2e::local_target(process->pid()));
  ASSERT_TRUE(target) << target.error().message;
  Finder finder;
  EXPECT_THAT(entries_of(finder.read(*target)),
              ElementsAre("0 localhost 4001 /opt/solver", "1 n17 4002 /opt/solver",
                          "2 n17 2147483647 /opt/a rather long path of a program that does "
                          "something else/and more"));
  EXPECT_FALSE(process && is_stopped(process->pid()));
}

TEST(LauncherThatEnds, InTheMiddleIsAnErrorOfIt) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_ia32());
  // Killed at ten moments between the connection and the detach, and before.
  Finder finder;
  for (int moment = 0; moment < 10; ++moment) {
    ChildProcess process({{program_of({"i386", ""})}});
    const auto target = TargetSpec::parse(e2e::local_target(process.pid()));
    std::jthread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(3 * moment));
      process.signal(SIGKILL);
    });
    const auto read = finder.read(*target);
    // Where it was quicker it has all.
    EXPECT_TRUE(read ? read->table.entries.size() == 3 : !read.error().message.empty());
  }
}

} // namespace
} // namespace mqbridge::test
