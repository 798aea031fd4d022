#include "tests/process/qemu_process.h"

#include "host/memory/reader.h"
#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <ostream>
#include <regex>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

std::string sysroot_of(const QemuPlatform& platform) {
  return "/usr/" + platform.triplet;
}

std::string compile(const QemuPlatform& platform, const std::string& linkage,
                    const TempDirectory& directory) {
  const std::string program = directory / "placed";
  ChildProcess compiler({{platform.triplet + "-gcc", "-O1", "-fPIE", linkage, "-o", program,
                          MQBRIDGE_PLACED_SOURCE, "-lm"}});
  const auto ending = compiler.wait(60s);
  EXPECT_TRUE(ending && ending->code == 0) << compiler.err();
  return program;
}

Result<std::unique_ptr<StoppedProcess>> open(rsp::Client& client, const rsp::Attachment& attachment,
                                             ElfCache& files) {
  return StoppedProcess::open(std::make_unique<LiveProcess>(client, attachment), files);
}

/// The image of the library; nullptr, and a failure, if it is not there with its file.
void expect_library(const ImageSet& images, std::string_view name) {
  const Image* found = images.find_by_name(name);
  ASSERT_NE(found, nullptr) << name;
  EXPECT_NE(found->file, nullptr) << found->missing_reason;
}

struct Placed {
  unsigned long long marker = 0;
  int libm = 0;
};

Placed said_by(const RealStub& stub) {
  Placed placed;
  eventually(5s, [&] { return stub.out().find("libm") != std::string::npos; });
  EXPECT_EQ(std::sscanf(stub.out().c_str(), "marker 0x%llx libm %d", &placed.marker, &placed.libm),
            2)
      << stub.out();
  return placed;
}

void expect_learnt(StoppedProcess& target, const QemuPlatform& platform, const std::string& program,
                   bool is_dynamic, const Placed& placed) {
  EXPECT_EQ(target.platform().architecture, platform.architecture);
  EXPECT_EQ(target.executable(), program); // by AT_EXECFN: QEMU 7.2 has no qXfer:exec-file
  Warnings warnings;
  const auto loaded = target.load_images(warnings);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (const auto& warning : warnings)
    ADD_FAILURE() << warning.message;
  const auto marker = target.images().find_symbol("placed_marker");
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->address, TargetAddress{placed.marker});
  const auto value = read_unsigned(target.memory(), target.platform(), marker->address, 4);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, 0x12345678U);
  if (!is_dynamic) {
    EXPECT_THAT(target.images().images(), SizeIs(1));
    return;
  }
  EXPECT_THAT(target.images().images(), SizeIs(4)); // with the dynamic linker, and no vdso
  expect_library(target.images(), "libc.so");
  expect_library(target.images(), "libm.so");
}

std::string lacking(const QemuPlatform& platform) {
  auto compiler = lacking_program(platform.triplet + "-gcc", platform.packages);
  return compiler.empty() ? lacking_program(platform.emulator, "qemu-user-static") : compiler;
}

} // namespace

void PrintTo(const QemuPlatform& platform, std::ostream* out) {
  *out << platform.architecture;
}

std::vector<std::string> linkages() {
  return {"-no-pie", "-pie", "-static"};
}

std::string name_of(const testing::TestParamInfo<QemuProcess::ParamType>& of) {
  const auto& [platform, linkage] = of.param;
  return platform.architecture + std::regex_replace(linkage, std::regex("-"), "_");
}

TEST_P(QemuProcess, IsLearntAsItSaysItself) {
  const auto& [platform, linkage] = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  const TempDirectory directory;
  const auto program = compile(platform, linkage, directory);
  if (::testing::Test::HasFailure())
    return;
  const bool is_dynamic = linkage == "-no-pie" || linkage == "-pie";
  const RealStub stub({platform.emulator, "-L", sysroot_of(platform), "-g", "{socket}", program});
  const auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  ElfCache files(FilePaths{{sysroot_of(platform), "/"}});
  auto attachment = rsp::attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  {
    // Not detached, that it may run: the stub ends with its first client.
    auto at_entry = open(*client, *attachment, files);
    ASSERT_TRUE(at_entry) << at_entry.error().message;
    Warnings warnings;
    const auto images = (*at_entry)->load_images(warnings);
    ASSERT_EQ(images.has_value(), !is_dynamic);
    if (is_dynamic) {
      EXPECT_EQ(images.error().code, "target.not_started");
      EXPECT_THAT(images.error().hint, HasSubstr("--run-until"));
    }
    const auto run = rsp::run_until(*client, {rsp::parse_signal("USR1")}, *attachment);
    ASSERT_TRUE(run) << run.error().message;
    auto target = open(*client, *attachment, files);
    ASSERT_TRUE(target) << target.error().message;
    expect_learnt(**target, platform, program, is_dynamic, said_by(stub));
  }
}

} // namespace mqbridge::test
