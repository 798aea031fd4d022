#include "host/cli/terminal/signals.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

/// Until the watching thread has seen it: signals of one kind do not queue.
void send(int signal, const SignalWatch& watch) {
  ::kill(::getpid(), signal);
  for (int i = 0; i < 1000 && !watch.token().stop_requested(); ++i)
    std::this_thread::sleep_for(5ms);
}

/// Longer than any signal takes: who comes back was not ended.
[[noreturn]] void outlive() {
  std::this_thread::sleep_for(10s);
  ::_exit(0);
}

class SignalsDeathTest : public testing::Test {
protected:
  SignalsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(SignalsDeathTest, TheFirstAsksForAStop) {
  EXPECT_EXIT(
      {
        const SignalWatch watch([] {});
        send(SIGTERM, watch);
        ::_exit(watch.token().stop_requested() && watch.signal() == SIGTERM ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(SignalsDeathTest, TheSecondEndsAtOnceAndCleansUp) {
  EXPECT_EXIT(
      {
        const SignalWatch watch([] { [[maybe_unused]] auto n = ::write(2, "cleaned", 7); });
        send(SIGINT, watch);
        ::kill(::getpid(), SIGINT);
        outlive();
      },
      testing::ExitedWithCode(130), "cleaned");
}

TEST_F(SignalsDeathTest, WithNoTargetHeldTheFirstEndsAtOnce) {
  EXPECT_EXIT(
      {
        SignalWatch watch([] {});
        watch.exit_on_next();
        ::kill(::getpid(), SIGTERM);
        outlive();
      },
      testing::ExitedWithCode(143), "");
}

TEST_F(SignalsDeathTest, AHangUpThatSomebodySendsAsksForAReloadWhereThatIsKnown) {
  EXPECT_EXIT(
      {
        SignalWatch watch([] {});
        watch.reload_on_hang_up();
        for (int i = 0; i < 2; ++i) {
          ::kill(::getpid(), SIGHUP);
          if (!watch.await_reload() || watch.token().stop_requested())
            ::_exit(1);
        }
        ::kill(::getpid(), SIGTERM);
        ::_exit(watch.await_reload() ? 2 : 7);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        const SignalWatch watch([] {});
        send(SIGHUP, watch);
        ::_exit(watch.signal() == SIGHUP ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

/// The terminal of a service in its foreground is closed: nobody would see that it goes on.
TEST_F(SignalsDeathTest, TheHangUpOfATerminalAsksForTheEnd) {
  EXPECT_EXIT(
      {
        const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
        if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0 ||
            ::setsid() < 0 || ::open(::ptsname(terminal), O_RDWR) < 0)
          ::_exit(1);
        SignalWatch watch([] {});
        watch.reload_on_hang_up();
        ::close(terminal);
        ::_exit(watch.await_reload() ? 2 : 7);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(SignalsDeathTest, ABrokenPipeIsAnErrorOfWriteAndOfNoChild) {
  EXPECT_EXIT(
      {
        survive_failing_writes();
        int ends[2];
        if (::pipe(ends) != 0 || ::close(ends[0]) != 0)
          ::_exit(1);
        if (::write(ends[1], "x", 1) != -1 || errno != EPIPE)
          ::_exit(2);
        // A program started from here dies of it, as everywhere.
        ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 3", nullptr);
        ::_exit(4);
      },
      testing::KilledBySignal(SIGPIPE), "");
}

TEST_F(SignalsDeathTest, AFileThatMayNotGrowIsAnErrorOfWriteAndOfNoChild) {
  EXPECT_EXIT(
      {
        survive_failing_writes();
        const int file = ::memfd_create("file", 0);
        rlimit limit{};
        if (file < 0 || ::getrlimit(RLIMIT_FSIZE, &limit) != 0)
          ::_exit(1);
        limit.rlim_cur = 0;
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
          ::_exit(1);
        if (::write(file, "x", 1) != -1 || errno != EFBIG || ::ftruncate(file, 1) != -1)
          ::_exit(2);
        ::execl("/bin/sh", "sh", "-c", "kill -XFSZ $$; exit 3", nullptr);
        ::_exit(4);
      },
      testing::KilledBySignal(SIGXFSZ), "");
}

} // namespace
} // namespace mqbridge::test
