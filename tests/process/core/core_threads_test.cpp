// Threads with their registers: of cores of each platform, and of one process both live and dead.

#include "host/process/core/core_process.h"
#include "host/process/live/live_process.h"
#include "tests/process/core/core_builder.h"
#include "tests/support/connected.h"
#include "tests/support/core_files.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::CoreBuilder;
using test::ElfShape;

Result<std::vector<ProcessThread>> threads_of_core(const std::filesystem::path& path) {
  ElfCache files{FilePaths{}};
  auto core = CoreProcess::open({path, {}}, "core:" + path.string(), files);
  if (!core)
    return forward(std::move(core));
  return (*core)->threads(64);
}

std::string thread_text(const ProcessThread& thread) {
  std::string text;
  for (const auto& byte : thread.registers.value_or(rsp::RegisterBytes()))
    text += byte ? static_cast<char>(*byte) : '?';
  return text;
}

class CoreThreadsOf : public testing::TestWithParam<ElfShape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, CoreThreadsOf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(CoreThreadsOf, HaveTheKernelsRegisters) {
  CoreBuilder core(GetParam());
  core.thread(70001, 7, "registers of one").process(70001, "program", "./program");
  core.thread(70002, 0, std::string(16, '\0'));
  const test::TempDirectory directory;
  std::ofstream(directory / "core", std::ios::binary) << core.bytes();
  const auto threads = threads_of_core(directory / "core");
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2U);
  for (const auto& thread : *threads)
    EXPECT_EQ(thread.layout, RegisterLayout::kernel);
  EXPECT_EQ(threads->at(0).tid, 70001);
  EXPECT_EQ(threads->at(0).signal, 7);
  EXPECT_EQ(thread_text(threads->at(0)), "registers of one");
  EXPECT_EQ(threads->at(1).tid, 70002);
  EXPECT_EQ(threads->at(1).signal, 0);
  EXPECT_EQ(thread_text(threads->at(1)), std::string(16, '\0'));
}

#if defined(__x86_64__)

struct Position {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  bool operator==(const Position&) const = default;
};
using Positions = std::map<std::int64_t, Position>; ///< by thread

void PrintTo(const Position& position, std::ostream* out) {
  *out << fmt::format("pc {:#x} sp {:#x}", position.pc, position.sp);
}

/// Each of the two layouts has x86_64's registers at places of its own.
std::uint64_t register_at(const ProcessThread& thread, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i > 0; --i)
    value = value << 8 |
            std::to_integer<std::uint64_t>(thread.registers.value().at(at + i - 1).value());
  return value;
}

Positions positions(const std::vector<ProcessThread>& threads) {
  Positions all;
  for (const auto& thread : threads)
    all[thread.tid] = {register_at(thread, 128),
                       register_at(thread, thread.layout == RegisterLayout::gdb ? 56 : 152)};
  return all;
}

/// As gdb shows them of the core: a line with "(LWP TID)", then one for each register.
Positions positions_by_gdb(const std::filesystem::path& program,
                           const std::filesystem::path& core) {
  ChildProcess gdb(
      {{"gdb", "-nx", "-batch", program, core, "-ex", "thread apply all info registers rip rsp"}});
  EXPECT_TRUE(gdb.wait(60s)) << gdb.err();
  std::istringstream lines(gdb.out());
  Positions all;
  std::int64_t tid = 0;
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    const auto thread = line.find("LWP ");
    if (line.starts_with("Thread ") && thread != std::string::npos) {
      tid = std::atoll(line.c_str() + thread + 4);
      listed = true;
    }
    std::istringstream words(line);
    std::string name;
    std::string value;
    words >> name >> value;
    if (listed && (name == "rip" || name == "rsp"))
      (name == "rip" ? all[tid].pc : all[tid].sp) = std::strtoull(value.c_str(), nullptr, 16);
  }
  return all;
}

/// Empty: one runs.
Positions positions_by_kernel(pid_t pid) {
  Positions all;
  for (const auto& [tid, thread] : test::sleeping_threads(pid))
    all[tid] = {thread.program_counter, thread.stack_pointer};
  return all;
}

Result<std::vector<ProcessThread>> live_threads(pid_t pid) {
  const test::GdbServer server(test::ServerMode::attach, pid);
  const auto client = test::connected(server.endpoint());
  if (!client)
    return fail("test", "not connected");
  const auto attachment = rsp::attach(*client);
  if (!attachment)
    return Failure(attachment.error());
  return LiveProcess(*client, *attachment).threads(64);
}

// Both threads of core_subject.c sleep in pause(), each at one place before and after a stop.
TEST(RealThreads, StandLiveAndInTheCoreWhereGdbAndTheKernelSay) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  const test::TempDirectory directory;
  const auto program = directory / "subject";
  ChildProcess compiler(
      {{MQBRIDGE_TEST_CC, "-O1", "-DBUILD=1", "-pthread", "-o", program, MQBRIDGE_CORE_SUBJECT}});
  const auto compiled = compiler.wait(60s);
  ASSERT_TRUE(compiled && compiled->code == 0) << compiler.err();
  const ChildProcess process({{program}});
  Positions expected;
  ASSERT_TRUE(test::eventually(10s, [&] {
    expected = positions_by_kernel(process.pid());
    return process.out().find("ready") != std::string::npos && expected.size() == 2;
  })) << process.err();

  const auto live = live_threads(process.pid());
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_EQ(positions(*live), expected);
  for (const auto& thread : *live)
    EXPECT_EQ(thread.name, "subject");

  ASSERT_TRUE(
      test::eventually(10s, [&] { return positions_by_kernel(process.pid()) == expected; }));
  const auto path = test::gcore(process.pid(), directory.path());
  const auto dead = threads_of_core(path);
  ASSERT_TRUE(dead) << dead.error().message;
  EXPECT_EQ(positions(*dead), expected);
  EXPECT_EQ(positions_by_gdb(program, path), expected);
}

#endif

} // namespace
} // namespace mqbridge
