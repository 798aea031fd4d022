// What holds of a confined process without any filter, and of its parent's side.

#include "host/confined/child.h"
#include "host/confined/confine.h"
#include "host/confined/confined_process.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

using testing::ExitedWithCode;

constexpr int first_unused = 64;

rlim_t limit_of(int resource) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
  return now.rlim_max;
}

std::string status_line(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":"))
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  return "none";
}

TEST(DieWithParent, KnowsThatItIsTooLate) {
  EXPECT_EXIT(::_exit(die_with_parent(::getppid()) ? 0 : 1), ExitedWithCode(0), "");
  EXPECT_EXIT(::_exit(die_with_parent(::getppid() + 1) ? 0 : 1), ExitedWithCode(1), "");
}

TEST(DieWithParent, Does) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(ends[0]);
    const pid_t self = ::getpid();
    if (::fork() == 0) { // holds the pipe open as long as it lives
      if (!die_with_parent(self) || ::write(ends[1], "r", 1) != 1)
        ::_exit(1);
      for (;;)
        ::pause();
    }
    ::close(ends[1]);
    for (;;)
      ::pause();
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(parent, SIGKILL);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "its end of the pipe is gone with it";
  ::waitpid(parent, nullptr, 0);
  ::close(ends[0]);
}

TEST(Confine, TakesWhatIsNotNeeded) {
  EXPECT_EXIT(
      {
        ::dup2(0, first_unused + 3);
        confine(first_unused);
        start_no_more();
        const bool closed = ::dup(first_unused + 3) < 0;
        const bool limited = limit_of(RLIMIT_CORE) == 0 && limit_of(RLIMIT_FSIZE) == 0 &&
                             limit_of(RLIMIT_NPROC) == 0 && limit_of(RLIMIT_STACK) == 8U << 20;
        const bool guarded =
            ::prctl(PR_GET_DUMPABLE) == 0 && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
        // CAP_DAC_READ_SEARCH is bit 2.
        const auto rights = std::stoull(status_line("CapPrm"), nullptr, 16) |
                            std::stoull(status_line("CapEff"), nullptr, 16);
        ::_exit((closed ? 0 : 1) + (limited ? 0 : 2) + (guarded ? 0 : 4) +
                ((rights & ~std::uint64_t{4}) == 0 ? 0 : 8));
      },
      ExitedWithCode(0), "");
}

TEST(SetLimits, EndsEndlessComputing) {
  EXPECT_EXIT(
      {
        set_limits({std::uint64_t{8} << 40, std::uint64_t{1} << 40, 1});
        if (limit_of(RLIMIT_NOFILE) != 64)
          ::_exit(1);
        for (volatile unsigned turns = 0;;) {
          static_cast<void>(turns);
        }
      },
      testing::KilledBySignal(SIGXCPU), "");
}

TEST(KeepToOwnMemory, OpensNothingForWritingAndReadsNoOther) {
  constexpr int version = 1; // LANDLOCK_CREATE_RULESET_VERSION
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, version) < 1)
    GTEST_SKIP() << "this kernel has no Landlock: see host/confined/confine.h";
  const auto memory = "/proc/" + std::to_string(::getpid()) + "/mem";
  EXPECT_EXIT(
      {
        confine(first_unused);
        if (keep_to_own_memory())
          ::_exit(4);
        const bool written = ::open("/dev/null", O_WRONLY) >= 0;
        const bool others = ::open(memory.c_str(), O_RDONLY) >= 0;
        ::_exit((written ? 1 : 0) + (others ? 2 : 0));
      },
      ExitedWithCode(0), "");
}

TEST(ConfinedProcess, StartsWithTheNumberOfItsParentAndEndsWithItsOwner) {
  auto process = ConfinedProcess::start("/bin/echo", 4096);
  ASSERT_TRUE(process) << process.error().message;
  std::string said;
  const auto status = process->end([&](std::string_view piece) { said += piece; }, 5000);
  EXPECT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(said, std::to_string(::getpid()) + "\n");
  EXPECT_FALSE(process->alive());
}

TEST(ConfinedProcess, AProgramThatIsNotThereIsSaid) {
  const auto process = ConfinedProcess::start("/no/such/program", 4096);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, "worker.start");
  EXPECT_THAT(process.error().message, testing::HasSubstr("/no/such/program"));
}

TEST(ConfinedProcess, WhoseStatusTheSystemDidNotKeepIsNoSuccess) {
  EXPECT_EXIT(
      {
        ::signal(SIGCHLD, SIG_IGN);
        auto process = ConfinedProcess::start("/bin/true", 4096);
        ::_exit(process && !process->end([](std::string_view) {}, 5000) ? 0 : 1);
      },
      ExitedWithCode(0), "");
}

pid_t fork_child(int exit_code) {
  const pid_t pid = ::fork();
  if (pid == 0 && exit_code < 0)
    for (;;)
      ::pause();
  if (pid == 0)
    ::_exit(exit_code);
  return pid;
}

TEST(Child, IsSeenToEnd) {
  Child child(fork_child(3));
  pollfd ended{child.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1);
  EXPECT_TRUE(child.has_ended());
  const auto status = child.end();
  EXPECT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 3);
  EXPECT_EQ(child.end(), std::nullopt);
}

TEST(Child, IsKilledWithItsOwner) {
  const pid_t pid = fork_child(-1);
  {
    const Child child(pid);
    EXPECT_FALSE(child.has_ended());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

/// Its number may be anybody's once it has been reaped.
TEST(KillAndReap, LeavesAloneWhatIsNoChild) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t pid = fork_child(-1);
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid)
      ::_exit(1);
    for (;;)
      ::pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(ends[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  EXPECT_EQ(kill_and_reap(grandchild, false), std::nullopt);
  EXPECT_EQ(kill_and_reap(-1, false), std::nullopt);
  EXPECT_EQ(::kill(grandchild, 0), 0) << "it still runs";
  ::kill(grandchild, SIGKILL);
  EXPECT_TRUE(kill_and_reap(child, false));
  ::close(ends[0]);
  ::close(ends[1]);
}

} // namespace
} // namespace mqbridge::sandbox
