#include "tests/e2e/harness/bare_machine.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string program_of(std::string_view architecture) {
  return fmt::format("{}/inferiors/bare_poster-{}", MQBRIDGE_BINARY_DIRECTORY, architecture);
}

std::string emulator_of(std::string_view architecture) {
  return fmt::format("qemu-system-{}", architecture);
}

std::vector<std::string> command(std::string_view architecture, const std::string& program) {
  std::vector<std::string> argv = {emulator_of(architecture), "-M", "virt", "-m", "32"};
  if (architecture == "riscv64")
    argv.insert(argv.end(), {"-bios", "none"});
  argv.insert(argv.end(),
              {"-device", "loader,file=" + program + ",cpu-num=0", "-display", "none", "-monitor",
               "none", "-serial", "stdio", "-gdb", "unix:{socket},server=on,wait=off"});
  return argv;
}

/// The only operation of a queue; null if there is none.
json operation(const json& rank, std::size_t communicator, const char* queue) {
  const auto at = json::json_pointer(
      fmt::format("/communicators/{}/queues/{}/operations/0", communicator, queue));
  return rank.contains(at) ? rank[at] : json();
}

/// What bare_poster.c does.
void expect_recorded(const json& rank) {
  EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
  EXPECT_EQ(rank["world_rank"], 1);
  EXPECT_EQ(rank["dll"]["provider"], "recorder");
  ASSERT_EQ(rank["communicators"].size(), 2U);
  EXPECT_EQ(rank["communicators"][0]["name"], "MPI_COMM_WORLD");
  EXPECT_EQ(rank["communicators"][1]["name"], "reversed");
  const json receive = operation(rank, 0, "receive");
  ASSERT_FALSE(receive.is_null());
  EXPECT_EQ(receive["peer"]["local_rank"], 2);
  EXPECT_EQ(receive["tag"]["value"], 17);
  EXPECT_EQ(receive["length"]["value"], 0x123456789); // more than 32 bits
  const json send = operation(rank, 0, "send");
  ASSERT_FALSE(send.is_null());
  EXPECT_EQ(send["peer"]["local_rank"], 0);
  EXPECT_EQ(send["length"]["value"], 64);
  const json unexpected = operation(rank, 1, "unexpected");
  ASSERT_FALSE(unexpected.is_null());
  EXPECT_EQ(unexpected["peer"]["local_rank"], 0);
  EXPECT_EQ(unexpected["peer"]["global_rank"], 2);
  EXPECT_EQ(unexpected["tag"]["value"], -5);
}

} // namespace

BareMachine::BareMachine(std::string_view architecture) : program_(program_of(architecture)) {
  stub_.emplace(command(architecture, program_));
  if (!test::eventually(20s, [&] { return stub_->out().find("ready") != std::string::npos; }))
    throw std::runtime_error(fmt::format("{} does not get ready: {}", program_, stub_->out()));
}

std::string BareMachine::lacking(std::string_view architecture) {
  if (!std::filesystem::exists(program_of(architecture)))
    return fmt::format("no bare_poster-{0}: apt install gcc-{0}-linux-gnu libc6-dev-{0}-cross    "
                       "then configure and build again",
                       architecture);
  return test::lacking_program(emulator_of(architecture), "qemu-system-misc");
}

void expect_dump_of_bare_machine(std::string_view architecture, std::string_view byte_order,
                                 int pointer_size) {
  BareMachine machine(architecture);
  for (int i = 0; i < 2; ++i) { // it runs on in between
    const auto dump = dump_json({"--image", machine.program(), machine.endpoint()});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    const auto& rank = dump.document["ranks"][0];
    EXPECT_EQ(rank["platform"], json({{"architecture", architecture},
                                      {"byte_order", byte_order},
                                      {"pointer_size", pointer_size}}));
    EXPECT_EQ(rank["executable"], machine.program());
    expect_recorded(rank);
  }
}

} // namespace mqbridge::e2e
