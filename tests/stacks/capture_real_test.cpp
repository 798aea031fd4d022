// Stacks of real processes, through gdbserver and out of cores: they are those that the kernel
// shows, and they cost few round trips.

#include "host/process/core/core_process.h"
#include "host/process/live/live_process.h"
#include "host/stacks/capture.h"
#include "host/stacks/capture_plan.h"
#include "host/stacks/thread_registers.h"
#include "tests/support/connected.h"
#include "tests/support/core_files.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>
#include <sys/syscall.h>
#include <utility>

#if defined(__x86_64__)

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;

using Sleeps = std::map<std::int64_t, test::SleepingThread>; ///< by thread

Sleeps sleeps_of(const CapturedStacks& captured, const Platform& platform) {
  Sleeps all;
  for (const auto& one : captured.threads)
    all[one.thread.tid] = {one.system_call.value_or(-1), one.stack_pointer,
                           program_counter(one.thread, platform).value_or(0)};
  return all;
}

/// waiting_stacks.c, built so and with that many threads, all of which wait.
class Subject {
public:
  Subject(const std::vector<std::string>& compiled_by, int threads) {
    const auto program = directory_ / "subject";
    auto command = compiled_by;
    command.insert(command.end(),
                   {"-O1", "-pthread", "-o", program, MQBRIDGE_STACK_SUBJECTS "/waiting_stacks.c"});
    ChildProcess compiler({command});
    const auto compiled = compiler.wait(60s);
    EXPECT_TRUE(compiled && compiled->code == 0) << compiler.err();
    // The kernel would write into the stacks: where each thread runs (restartable sequences).
    process_.emplace(test::ChildSpec{{program, std::to_string(threads)},
                                     {{"GLIBC_TUNABLES", "glibc.pthread.rseq=0"}}});
    EXPECT_TRUE(test::eventually(10s, [&] {
      // A thread that begins may sleep for a moment, for memory of its stack.
      const auto before = std::exchange(sleeps, test::sleeping_threads(pid()));
      return process_->out().find("ready") != std::string::npos &&
             sleeps.size() == static_cast<std::size_t>(threads) && sleeps == before;
    }));
  }
  pid_t pid() const { return process_->pid(); }

  /// Its own memory, as the kernel gives it.
  std::string memory(std::uint64_t address, std::size_t size) const {
    std::ifstream file(fmt::format("/proc/{}/mem", pid()), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(address));
    std::string bytes(size, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
  }

  Sleeps sleeps; ///< before anybody stopped it

private:
  test::TempDirectory directory_;
  std::optional<ChildProcess> process_;
};

/// What there is of a thread is what the kernel has there.
void expect_true_bytes(const CapturedStacks& captured, const Subject& subject) {
  for (const auto& one : captured.threads) {
    const auto size = static_cast<std::size_t>(one.captured_to.value - one.stack_pointer);
    ASSERT_GT(size, 0U) << one.thread.tid;
    std::string bytes(size, '\0');
    ASSERT_TRUE(captured.pages->copy(one.stack_pointer, std::as_writable_bytes(std::span(bytes))));
    EXPECT_TRUE(bytes == subject.memory(one.stack_pointer, size)) << one.thread.tid;
  }
}

/// A process that a gdbserver holds.
struct Held {
  explicit Held(const Subject& subject, const ProcessOptions& options)
      : server(test::ServerMode::attach_once, subject.pid()),
        client(test::connected(server.endpoint())) {
    if (!client)
      return;
    const auto attachment = rsp::attach(*client);
    EXPECT_TRUE(attachment);
    auto opened =
        StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files, options);
    EXPECT_TRUE(opened) << opened.error().message;
    process = std::move(*opened);
    Warnings warnings;
    EXPECT_TRUE(process->load_images(warnings));
    // As a dump does: with each of them what was asked ahead leaves.
    EXPECT_TRUE(process->environment());
    std::vector<std::byte> some(std::size_t{256} << 10);
    EXPECT_TRUE(process->memory().read({subject.sleeps.at(subject.pid()).stack_pointer}, some));
  }

  ElfCache files{FilePaths{}};
  test::GdbServer server;
  std::unique_ptr<rsp::Client> client;
  std::unique_ptr<StoppedProcess> process;
};

const std::vector<std::string> native = {MQBRIDGE_TEST_CC};
const std::vector<std::string> narrow = {"i686-linux-gnu-gcc", "-static"};

struct Way {
  std::vector<std::string> compiled_by;
  int threads;
  CacheMode cache;
  bool beside; ///< threads are asked beside other reads
  /// At most. One more where so little was read before that the link may be a slow one.
  std::uint64_t round_trips;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.compiled_by.front() << (way.cache == CacheMode::none ? " without cache" : "")
       << (way.beside ? " beside" : "");
}

class WaitingThreads : public testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, WaitingThreads,
                         testing::Values(Way{native, 64, CacheMode::full, false, 3},
                                         Way{native, 64, CacheMode::full, true, 2},
                                         Way{native, 8, CacheMode::none, true, 2},
                                         Way{narrow, 64, CacheMode::full, true, 2}));

TEST_P(WaitingThreads, AreThoseThatTheKernelShows) {
  const auto& way = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(
      test::lacking_program(way.compiled_by.front(), "gcc-i686-linux-gnu libc6-dev-i386-cross"));
  MQBRIDGE_SKIP_IF_LACKING(way.compiled_by == narrow ? test::lacking_ia32() : "");
  const Subject subject(way.compiled_by, way.threads);
  ProcessOptions options;
  options.cache = way.cache;
  options.threads = way.beside;
  Held held(subject, options);
  ASSERT_TRUE(held.process);
  const auto before = held.client->counters().round_trips;
  const auto captured = capture_stacks(*held.process, {});
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_LE(held.client->counters().round_trips - before, way.round_trips);
  EXPECT_THAT(captured->warnings, testing::IsEmpty());
  auto sleeps = sleeps_of(*captured, held.process->platform());
  for (auto& [tid, sleep] : sleeps)
    if (way.compiled_by == narrow && sleep.call == 0)
      sleep.call = 267; // restart_syscall of i386, where nothing tells what it was
#if __GLIBC_PREREQ(2, 41)
  // Most calls of this C library share one instruction: nothing tells what was restarted there,
  // either.
  for (auto& [tid, sleep] : sleeps)
    if (way.compiled_by == native && sleep.call == SYS_restart_syscall)
      sleep.call = subject.sleeps.at(tid).call;
#endif
  EXPECT_EQ(sleeps, subject.sleeps);
  expect_true_bytes(*captured, subject);
  std::array<std::byte, 4> magic{};
  ASSERT_TRUE(captured->vdso);
  ASSERT_TRUE(captured->pages->copy(captured->vdso->value, magic));
  EXPECT_EQ(magic[1], std::byte{'E'});
  const auto& main = captured->threads.front();
  ASSERT_EQ(main.thread.tid, subject.pid());
  EXPECT_TRUE(main.cut);
  EXPECT_NEAR(static_cast<double>(main.captured_to.value - main.stack_pointer),
              static_cast<double>(most_of_other_stack), 256);
  for (const auto& one : captured->threads)
    EXPECT_FALSE(one.cut && one.captured_to.value - one.stack_pointer < most_of_other_stack / 2)
        << one.thread.tid;
}

TEST(StacksInTheMpi, HaveMoreAndTheRestIsCut) {
  const Subject subject(native, 4);
  ProcessOptions beside;
  beside.threads = true;
  Held held(subject, beside);
  ASSERT_TRUE(held.process);
  // The program itself stands for the library: words on the stacks of its threads point into it.
  CaptureOptions options;
  options.mpi_library = &held.process->images().images().front();
  const auto before = held.client->counters().round_trips;
  const auto captured = capture_stacks(*held.process, options);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_LE(held.client->counters().round_trips - before, 3U);
  const auto& main = captured->threads.front();
  EXPECT_TRUE(main.cut);
  EXPECT_NEAR(static_cast<double>(main.captured_to.value - main.stack_pointer),
              static_cast<double>(most_of_stack_in_mpi), 256);
  EXPECT_THAT(captured->warnings, testing::IsEmpty()) << "so much is what everybody gets";
  expect_true_bytes(*captured, subject);
}

TEST(StacksOfACore, AreThoseOfTheProcess) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  const Subject subject(native, 8);
  const test::TempDirectory directory;
  const auto core = test::gcore(subject.pid(), directory / "");
  ElfCache files{FilePaths{}};
  auto source = CoreProcess::open({core, {}}, "core", files);
  ASSERT_TRUE(source) << source.error().message;
  auto process = StoppedProcess::open(std::move(*source), files);
  ASSERT_TRUE(process) << process.error().message;
  Warnings warnings;
  ASSERT_TRUE((*process)->load_images(warnings));
  const auto captured = capture_stacks(**process, {});
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(sleeps_of(*captured, (*process)->platform()), subject.sleeps);
  expect_true_bytes(*captured, subject);
}

} // namespace
} // namespace mqbridge

#endif
