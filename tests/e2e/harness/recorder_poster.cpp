#include "tests/e2e/harness/recorder_poster.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/eventually.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <ostream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::ChildSpec;
using testing::EndsWith;
using testing::IsEmpty;

const std::vector<RecorderPlatform> platforms = {
    {"x86_64", "little", 8, "recorder_poster", "", ""},
    {"i386", "little", 4, "recorder_poster-i386", "", "gcc-i686-linux-gnu libc6-dev-i386-cross"},
    {"s390x", "big", 8, "recorder_poster-s390x", "qemu-s390x-static",
     "gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
    {"ppc", "big", 4, "recorder_poster-ppc", "qemu-ppc-static",
     "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
    {"mips", "big", 4, "recorder_poster-mips", "qemu-mips-static",
     "gcc-mips-linux-gnu libc6-dev-mips-cross"},
    {"m68k", "big", 4, "recorder_poster-m68k", "qemu-m68k-static",
     "gcc-m68k-linux-gnu libc6-dev-m68k-cross"},
    {"sparc64", "big", 8, "recorder_poster-sparc64", "qemu-sparc64-static",
     "gcc-sparc64-linux-gnu libc6-dev-sparc64-cross"},
    {"ppc64", "big", 8, "recorder_poster-ppc64", "qemu-ppc64-static",
     "gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross"},
    {"arm", "little", 4, "recorder_poster-armhf", "qemu-arm-static",
     "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"},
    {"aarch64", "little", 8, "recorder_poster-aarch64", "qemu-aarch64-static",
     "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
    {"riscv64", "little", 8, "recorder_poster-riscv64", "qemu-riscv64-static",
     "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"},
};

constexpr const char* stub_socket = "stub";

std::filesystem::path path_of(const RecorderPlatform& platform) {
  return std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors" / platform.program;
}

json dumped_rank(RecorderPoster& poster) {
  std::vector<std::string> arguments = poster.options();
  arguments.push_back(poster.endpoint());
  const DumpOutcome dump = dump_json(arguments);
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  return dump.document.is_null() ? json() : dump.document["ranks"][0];
}

// As they are, in their order, without what differs from process to process.
json without_addresses(const json& rank) {
  json communicators = rank["communicators"];
  for (json& communicator : communicators)
    for (json& queue : communicator["queues"])
      for (json& operation : queue["operations"])
        operation.erase("buffer");
  return communicators;
}

} // namespace

void PrintTo(const RecorderPlatform& platform, std::ostream* stream) {
  *stream << platform.architecture;
}

const RecorderPlatform& recorder_platform(std::string_view architecture) {
  const auto found = std::find_if(platforms.begin(), platforms.end(), [&](const auto& each) {
    return each.architecture == architecture;
  });
  if (found == platforms.end())
    throw std::logic_error(fmt::format("no platform {}", architecture));
  return *found;
}

std::string lacking(const RecorderPlatform& platform) {
  if (!std::filesystem::exists(path_of(platform)))
    return fmt::format("no {}: apt install {}    then configure and build again", platform.program,
                       platform.packages);
  if (platform.architecture == "i386")
    return test::lacking_ia32();
  return platform.emulator.empty() ? ""
                                   : test::lacking_program(platform.emulator, "qemu-user-static");
}

RecorderPoster::RecorderPoster(const RecorderPlatform& platform, HeldAt held, int world_rank)
    : platform_(platform), held_(held) {
  const bool native = platform.emulator.empty();
  if (native && held == HeldAt::entry) {
    server_.emplace(test::ServerMode::spawned, command(world_rank));
    return;
  }
  if (!native && held == HeldAt::readiness)
    throw std::logic_error("qemu-user holds a process at its entry");
  process_.emplace(command(world_rank));
  const auto sign = directory() / (native ? "ready.0" : stub_socket);
  if (!test::eventually(20s, [&] { return std::filesystem::exists(sign); }))
    throw std::runtime_error(
        fmt::format("no {}: {}{}", sign.string(), process_->out(), process_->err()));
  if (native)
    server_.emplace(test::ServerMode::attach, process_->pid());
}

ChildSpec RecorderPoster::command(int world_rank) const {
  ChildSpec spec = {
      {path_of(platform_).string(), directory().string(), std::to_string(world_rank)}};
  if (held_ == HeldAt::entry)
    spec.argv.emplace_back("signal");
  if (!platform_.emulator.empty())
    spec.argv.insert(spec.argv.begin(),
                     {platform_.emulator, "-g", (directory() / stub_socket).string()});
  return spec;
}

std::string RecorderPoster::endpoint() const {
  return server_ ? server_->endpoint() : "unix:" + (directory() / stub_socket).string();
}

std::vector<std::string> RecorderPoster::options() const {
  if (held_ == HeldAt::readiness)
    return {};
  return {"--run-until", "signal=SIGUSR1"};
}

bool RecorderPoster::finishes() {
  std::ofstream(directory() / "go").flush();
  return test::eventually(30s, [&] { return std::filesystem::exists(directory() / "finished.0"); });
}

void expect_recorded(const RecorderPoster& poster, const json& rank) {
  const RecorderPlatform& platform = poster.platform();
  EXPECT_EQ(rank["status"], "ok");
  EXPECT_EQ(rank["platform"], json({{"architecture", platform.architecture},
                                    {"byte_order", platform.byte_order},
                                    {"pointer_size", platform.pointer_size}}));
  EXPECT_EQ(rank["mpi"]["name"], "mqbridge recorder");
  EXPECT_EQ(rank["mpi"]["version"], "1.3");
  EXPECT_EQ(rank["mpi"]["state"], "initialized");
  EXPECT_EQ(rank["mpi"]["types_source"], nullptr);
  EXPECT_EQ(rank["dll"]["provider"], "recorder");
  EXPECT_THAT(rank["dll"]["path"].get<std::string>(), EndsWith("/libmqbridge-queues.so"));
  EXPECT_THAT(differences(read_oracle(poster.directory(), 0), rank), IsEmpty());
  for (const json& communicator : rank["communicators"])
    for (const json& queue : communicator["queues"])
      for (const json& operation : queue["operations"])
        EXPECT_EQ(operation["repairs"], json::array()) << operation.dump();
}

void expect_recorded_truth(const RecorderPlatform& platform) {
  const bool native = platform.emulator.empty();
  RecorderPoster poster(platform, native ? HeldAt::readiness : HeldAt::entry);
  const json rank = dumped_rank(poster);
  ASSERT_FALSE(rank.is_null());
  expect_recorded(poster, rank);
  RecorderPoster other(recorder_platform("x86_64"), HeldAt::readiness);
  EXPECT_EQ(without_addresses(rank).dump(1), without_addresses(dumped_rank(other)).dump(1));
  EXPECT_TRUE(poster.finishes());
}

} // namespace mqbridge::e2e
