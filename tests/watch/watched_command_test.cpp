// A command in the place of the process that watches it. What it does is a shell script; what
// happened is read from its own words, its exit status and /proc.

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"
#include "tests/watch/watcher.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

/// In a script: it is ready, and waits.
const std::string ready = "echo ready; while :; do sleep 0.02; done";

/// Processes whose command line has `word`.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes()) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.find(word) != std::string::npos && process_state(pid) != 'Z')
      found.push_back(pid);
  }
  return found;
}

/// A number of seconds that no other process sleeps.
std::string own_seconds(int test) {
  return fmt::format("{}.{}", 1000 + test, ::getpid());
}

TEST(WatchedCommand, HasTheExitStatusOfTheCommand) {
  EXPECT_EQ(Watcher("exit 0").finish(), 0);
  EXPECT_EQ(Watcher("exit 3").finish(), 3);
  EXPECT_EQ(Watcher("kill -TERM $$").finish(), 128 + SIGTERM);
  EXPECT_EQ(Watcher("kill -KILL $$").finish(), 128 + SIGKILL);
}

TEST(WatchedCommand, ThatCannotBeRunSaysWhy) {
  const auto missing = WatchedCommand::start({"no-such-program-anywhere"}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "command.not_found");
  const auto directory = WatchedCommand::start({"/tmp"}, {});
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, "command.start");
}

// As timeout(1) and any shell start it.
TEST(WatchedCommand, MayBeAScriptThatDoesNotNameItsShell) {
  const TempDirectory directory;
  const auto script = directory / "my script";
  std::ofstream(script) << "echo \"$0\" \"$#\" \"$2\"; exit 6\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Watcher watcher([&script] {
    auto command = WatchedCommand::start({script.string(), "a b", "c  d"}, {});
    return command && (*command)->wait() == WatchEnd::ended ? *(*command)->exit_status() : 97;
  });
  EXPECT_EQ(watcher.finish(), 6);
  EXPECT_EQ(watcher.out(), script.string() + " 2 c  d\n");
}

// The very files and the group of the one that watches; and a descriptor that is not even standard.
TEST(WatchedCommand, StandsInOurPlace) {
  Watcher watcher([] {
    if (::dup2(STDIN_FILENO, 7) != 7)
      return 98;
    auto command =
        WatchedCommand::start({"sh", "-c",
                               "readlink /proc/$$/fd/1 /proc/$$/fd/2 /proc/$$/fd/7; "
                               "read -r line || echo end of input; cut -d' ' -f5 /proc/$$/stat"},
                              {});
    return command && (*command)->wait() == WatchEnd::ended ? *(*command)->exit_status() : 97;
  });
  const pid_t group = watcher.pid();
  EXPECT_EQ(watcher.finish(), 0);
  EXPECT_THAT(watcher.out(), testing::MatchesRegex(fmt::format(
                                 "[^\n]*/out\n[^\n]*/err\n/dev/null\nend of input\n{}\n", group)));
}

TEST(WatchedCommand, GetsTheSignalsThatWeGet) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT}) {
    SCOPED_TRACE(signal);
    Watcher watcher(fmt::format("trap 'echo came; exit 7' {}; {}", signal, ready));
    ASSERT_TRUE(watcher.says("ready"));
    watcher.signal(signal);
    EXPECT_EQ(watcher.finish(), 7);
    EXPECT_EQ(watcher.out(), "ready\ncame\n");
  }
}

// As nohup wants it.
TEST(WatchedCommand, IgnoresWhatWeIgnore) {
  Watcher watcher([] {
    ::signal(SIGHUP, SIG_IGN);
    auto command = WatchedCommand::start({"sh", "-c", "kill -HUP $$; echo alive"}, {});
    return command && (*command)->wait() == WatchEnd::ended ? *(*command)->exit_status() : 97;
  });
  EXPECT_EQ(watcher.finish(), 0);
  EXPECT_EQ(watcher.out(), "alive\n");
}

TEST(WatchedCommand, PassesTheEndOnToWhatAShellHasStarted) {
  const auto seconds = own_seconds(1);
  Watcher watcher("echo ready; sleep " + seconds + "; echo after");
  ASSERT_TRUE(watcher.says("ready"));
  ASSERT_TRUE(eventually(5s, [&] { return processes_with(seconds).size() > 1; }));
  watcher.signal(SIGTERM);
  EXPECT_EQ(watcher.finish(), 128 + SIGTERM);
  EXPECT_TRUE(eventually(5s, [&] { return processes_with(seconds).empty(); }));
}

TEST(WatchedCommand, ThatTakesTooLongIsEnded) {
  const auto seconds = own_seconds(2);
  Watcher watcher("sleep " + seconds, {.total = 100ms, .silence = {}});
  EXPECT_EQ(watcher.finish(), 124);
  EXPECT_THAT(processes_with(seconds), IsEmpty());
}

TEST(WatchedCommand, ThatPrintsNothingIsSilentAndEachOutputBeginsAnew) {
  Watcher printing("for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo $i; sleep 0.1; echo $i >&2; done",
                   {.total = {}, .silence = 800ms});
  EXPECT_EQ(printing.finish(), 0);
  EXPECT_EQ(printing.out(), "1\n2\n3\n4\n5\n6\n7\n8\n");
  EXPECT_EQ(printing.err(), printing.out());
  Watcher silent("echo begun; sleep 1000", {.total = {}, .silence = 200ms});
  EXPECT_EQ(silent.finish(), 125);
  EXPECT_EQ(silent.out(), "begun\n");
}

TEST(WatchedCommand, ThatIgnoresTheRequestToEndIsKilledAfterTheGrace) {
  const auto seconds = own_seconds(3);
  Watcher watcher("trap '' TERM; sleep " + seconds + "; sleep " + seconds,
                  {.total = 100ms, .silence = {}}, 200ms);
  EXPECT_EQ(watcher.finish(), 124);
  EXPECT_THAT(processes_with(seconds), IsEmpty());
}

// Its parent has gone, it has a session of its own, and it ignores SIGTERM.
TEST(WatchedCommand, LeavesNoGrandchildWhereItIsEnded) {
  const auto seconds = own_seconds(4);
  Watcher watcher("(setsid sh -c 'trap \"\" TERM; sleep " + seconds + "; true' &) ; sleep " +
                      seconds,
                  {.total = 300ms, .silence = {}}, 300ms);
  EXPECT_TRUE(eventually(5s, [&] { return processes_with(seconds).size() >= 3; }));
  EXPECT_EQ(watcher.finish(), 124);
  EXPECT_THAT(processes_with(seconds), IsEmpty());
}

TEST(WatchedCommand, ThatEndsByItselfMayLeaveADaemon) {
  const auto seconds = own_seconds(5);
  Watcher watcher("(setsid sleep " + seconds + " &) ; exit 6", {.total = {}, .silence = 10s});
  EXPECT_EQ(watcher.finish(), 6);
  const auto left = processes_with(seconds);
  EXPECT_EQ(left.size(), 1U);
  for (const pid_t pid : left)
    ::kill(pid, SIGKILL);
}

TEST(WatchedCommand, ThatStandsStillIsEndedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  Watcher watcher("kill -STOP $$", {.total = 100ms, .silence = {}});
  EXPECT_EQ(watcher.finish(), 124);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s) << "it took the grace and SIGKILL";
}

TEST(WatchedCommand, EndsNothingThatWasThereBefore) {
  const auto seconds = own_seconds(6);
  Watcher watcher([&] {
    pid_t before = 0;
    const std::string program = "sleep";
    const char* arguments[] = {"sleep", seconds.c_str(), nullptr};
    if (::posix_spawnp(&before, "sleep", nullptr, nullptr, const_cast<char**>(arguments),
                       environ) != 0)
      return 98;
    auto command = WatchedCommand::start({"sleep", "1000"}, {.total = 100ms, .silence = {}});
    if (!command || (*command)->wait() != WatchEnd::too_long || !(*command)->end(5s).empty())
      return 97;
    const bool lives = ::waitpid(before, nullptr, WNOHANG) == 0;
    ::kill(before, SIGKILL);
    return lives ? 0 : 1;
  });
  EXPECT_EQ(watcher.finish(), 0);
}

// Work beside it: output and signals go on, and a signal that asks for the end stops the work.
TEST(WatchedCommand, LivesOnBesideOurWorkWhichASignalStops) {
  Watcher watcher([] {
    auto command = WatchedCommand::start(
        {"sh", "-c", "trap 'sleep 0.3; exit 5' INT; trap 'echo user' USR1; sleep 0.2; " + ready},
        {.total = 50ms, .silence = 10s});
    if (!command || (*command)->wait() != WatchEnd::too_long)
      return 97;
    bool stopped = false;
    (*command)->wait_for(
        [&](const std::stop_token& stop) {
          stopped = eventually(10s, [&] { return stop.stop_requested(); }) &&
                    process_state((*command)->pid()) != '\0'; // by the signal, not by its end
        },
        10s);
    return stopped ? (*command)->exit_status().value_or(95) : 96;
  });
  ASSERT_TRUE(watcher.says("ready")); // written beside the work
  watcher.signal(SIGUSR1);
  ASSERT_TRUE(watcher.says("user"));
  watcher.signal(SIGINT);
  EXPECT_EQ(watcher.finish(), 5);
}

TEST(WatchedCommand, IsSuspendedWithUsOnceNothingIsHeld) {
  const TempDirectory directory;
  const auto held = directory / "held";
  const auto go = directory / "go";
  Watcher watcher([&] {
    auto command = WatchedCommand::start({"sh", "-c", ready}, {.total = 1ms, .silence = {}});
    if (!command || (*command)->wait() != WatchEnd::too_long)
      return 97;
    (*command)->wait_for(
        [&](const std::stop_token&) {
          (*command)->holds().enter();
          std::ofstream(held).flush();
          eventually(10s, [&] { return std::filesystem::exists(go); });
          (*command)->holds().leave();
        },
        0s);
    return (*command)->end(5s).empty() ? 124 : 99;
  });
  ASSERT_TRUE(eventually(10s, [&] { return std::filesystem::exists(held); }));
  const auto shell = children_of(watcher.pid()).at(0);
  watcher.signal(SIGTSTP);
  ASSERT_TRUE(eventually(5s, [&] { return process_state(shell) == 'T'; }));
  std::this_thread::sleep_for(100ms);
  EXPECT_NE(process_state(watcher.pid()), 'T') << "something is held";
  std::ofstream(go).flush();
  ASSERT_TRUE(eventually(5s, [&] { return process_state(watcher.pid()) == 'T'; }));
  watcher.signal(SIGCONT);
  EXPECT_EQ(watcher.finish(), 124);
}

TEST(WatchedCommand, ThatEndsByItselfStopsOurWork) {
  Watcher watcher([] {
    auto command =
        WatchedCommand::start({"sh", "-c", "sleep 0.3; exit 8"}, {.total = 1ms, .silence = {}});
    if (!command || (*command)->wait() != WatchEnd::too_long)
      return 97;
    bool stopped = false;
    (*command)->wait_for(
        [&](const std::stop_token& stop) {
          stopped = eventually(10s, [&] { return stop.stop_requested(); });
        },
        0s);
    return stopped ? (*command)->exit_status().value_or(95) : 96;
  });
  EXPECT_EQ(watcher.finish(), 8);
}

TEST(WatchedCommand, DoesNotCountTheTimeThatItWasSuspended) {
  Watcher watcher("echo ready; sleep 0.6", {.total = 1500ms, .silence = {}});
  ASSERT_TRUE(watcher.says("ready"));
  watcher.signal(SIGTSTP);
  ASSERT_TRUE(eventually(5s, [&] { return process_state(watcher.pid()) == 'T'; }));
  std::this_thread::sleep_for(1600ms);
  watcher.signal(SIGCONT);
  EXPECT_EQ(watcher.finish(), 0);
}

} // namespace
} // namespace mqbridge::test
