// mqbridge as a job of a shell in a terminal, with a target that is held all the while: keys, a
// window that is closed, and suspension. The target runs on whatever the user does.

#include "bench/delaying_link/delaying_link.h"
#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/terminal.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using bench::DelayingLink;
using test::eventually;
using test::GdbServer;
using test::process_state;
using test::ServerMode;
using testing::HasSubstr;

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : mqbridge_command(arguments).argv)
    line += word + " ";
  return line;
}

/// A long link, so that a dump takes seconds, and a shell that has begun one.
class TerminalTest : public testing::Test {
protected:
  void SetUp() override {
    auto link =
        DelayingLink::open(fmt::format("127.0.0.1:{}", server_.port()), {.round_trip = 100ms});
    ASSERT_TRUE(link) << link.error().message;
    link_ = std::move(*link);
  }

  /// Returns when the target is held and is being read. `before` and `behind` the command is what
  /// the user types there.
  void begin_dump(const std::string& before = "", const std::string& behind = "") {
    terminal_.type(before + command_line({"dump", link_->endpoint(), "--trace", trace()}) + behind +
                   "; echo status=$?\n");
    ASSERT_TRUE(eventually(20s, [this] { return trace_shows("== images"); })) << terminal_.shown();
    const auto mqbridge = test::descendant_named(terminal_.shell(), "mqbridge");
    ASSERT_TRUE(mqbridge);
    mqbridge_ = *mqbridge;
    ASSERT_NE(test::tracer_of(victim_.pid()), 0);
  }

  bool target_runs() const {
    return eventually(10s, [this] { return test::tracer_of(victim_.pid()) == 0; }) &&
           makes_progress(victim_.directory(), 5s);
  }
  bool stands_still() const {
    return eventually(10s, [this] { return process_state(mqbridge_) == 'T'; });
  }
  bool has_ended() const {
    const char state = process_state(mqbridge_);
    return state == '\0' || state == 'Z';
  }
  /// Not faster than a user: a signal that is still to be taken swallows the next of its kind.
  template <class Done>
  void press_until(std::string_view key, Done done) const {
    const auto pressed = [&] {
      if (!done())
        terminal_.type(key);
      return done();
    };
    ASSERT_TRUE(eventually(10s, pressed, 100ms)) << terminal_.shown();
  }

  SingleProcess victim_{"mpi_victim"};
  Terminal terminal_;
  pid_t mqbridge_ = 0;
  test::TempDirectory directory_;

private:
  std::string trace() const { return (directory_ / "trace").string(); }
  bool trace_shows(std::string_view text) const {
    std::stringstream all;
    all << std::ifstream(trace()).rdbuf();
    return all.str().find(text) != std::string::npos;
  }

  GdbServer server_{ServerMode::attach, victim_.pid()};
  std::unique_ptr<DelayingLink> link_;
};

TEST_F(TerminalTest, ClosedTheDumpEndsAndTheTargetRuns) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  terminal_.close();
  EXPECT_TRUE(target_runs());
  EXPECT_TRUE(eventually(10s, [this] { return has_ended(); }));
  EXPECT_EQ(victim_.finish(), "");
}

TEST_F(TerminalTest, CtrlCEndsTheDumpWithItsTargetReleased) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  terminal_.type(Terminal::ctrl_c);
  EXPECT_TRUE(terminal_.shows("status=130", 10s)) << terminal_.shown();
  EXPECT_TRUE(target_runs());
  EXPECT_EQ(victim_.finish(), "");
}

TEST_F(TerminalTest, CtrlCTwiceEndsItAtOnceAndTheGuardianReleases) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  press_until(Terminal::ctrl_c, [this] { return has_ended(); });
  EXPECT_TRUE(terminal_.shows("status=130", 10s)) << terminal_.shown();
  EXPECT_TRUE(target_runs());
  EXPECT_EQ(victim_.finish(), "");
}

TEST_F(TerminalTest, TheQuitKeyEndsItAtOnceAndTheGuardianReleases) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  terminal_.type(Terminal::ctrl_backslash);
  EXPECT_TRUE(terminal_.shows("status=131", 10s)) << terminal_.shown();
  EXPECT_TRUE(target_runs());
  EXPECT_EQ(victim_.finish(), "");
}

TEST_F(TerminalTest, CtrlZWaitsUntilNothingIsHeldAndCostsNothing) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  terminal_.type(Terminal::ctrl_z);
  ASSERT_TRUE(stands_still()) << terminal_.shown();
  EXPECT_EQ(test::tracer_of(victim_.pid()), 0) << "released before it stood still";
  EXPECT_TRUE(target_runs());
  terminal_.type("fg; echo end=$?\n");
  EXPECT_TRUE(terminal_.shows("end=0", 10s)) << terminal_.shown();
  EXPECT_THAT(terminal_.shown(), HasSubstr("1 complete"));
  EXPECT_EQ(victim_.finish(), "");
}

TEST_F(TerminalTest, CtrlZTwiceSuspendsAtOnceAndTheGuardianReleases) {
  ASSERT_NO_FATAL_FAILURE(begin_dump());
  press_until(Terminal::ctrl_z, [this] { return process_state(mqbridge_) == 'T'; });
  ASSERT_NE(test::tracer_of(victim_.pid()), 0) << "suspended at once, its target held";
  EXPECT_TRUE(target_runs());
  terminal_.type("fg; echo end=$?\n");
  EXPECT_TRUE(terminal_.shows("guardian.released", 10s)) << terminal_.shown();
  EXPECT_EQ(victim_.finish(), "");
}

/// nohup(1) starts it with SIGHUP ignored, and ignored it stays.
TEST_F(TerminalTest, ClosedUnderNohupTheDumpGoesOn) {
  const auto report = directory_ / "report.json";
  ASSERT_NO_FATAL_FAILURE(
      begin_dump("nohup ", "--format json -o " + report.string() + " </dev/null >/dev/null 2>&1"));
  terminal_.close();
  EXPECT_TRUE(eventually(20s, [this] { return has_ended(); }));
  const auto dump = nlohmann::json::parse(std::ifstream(report), nullptr, false);
  ASSERT_TRUE(dump.is_object());
  EXPECT_EQ(dump["ranks"][0]["status"], "ok") << dump["ranks"][0]["errors"].dump(2);
  EXPECT_TRUE(target_runs());
  EXPECT_EQ(victim_.finish(), "");
}

struct Crash {
  const char* name;
  int signal;
  const char* core_limit; ///< as for ulimit -c
};

void PrintTo(const Crash& crash, std::ostream* stream) {
  *stream << crash.name;
}

/// A sanitized mqbridge would report the signal and exit, and not die of it.
constexpr auto unreported_if_sanitized =
    "export ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0:handle_sigbus=0:handle_abort=0; ";

class CrashTest : public TerminalTest, public testing::WithParamInterface<Crash> {};

/// With a core file its sockets stay open until that is written: the guardian does not wait for it.
TEST_P(CrashTest, OfMqbridgeLetsTheTargetRun) {
  test::faults_tried(1);
  const auto& crash = GetParam();
  ASSERT_NO_FATAL_FAILURE(
      begin_dump(fmt::format("cd {}; ulimit -c {}; {}", directory_.path().string(),
                             crash.core_limit, unreported_if_sanitized)));
  ASSERT_EQ(kill(mqbridge_, crash.signal), 0);
  EXPECT_TRUE(terminal_.shows(fmt::format("status={}", 128 + crash.signal), 20s))
      << terminal_.shown();
  EXPECT_TRUE(target_runs());
  EXPECT_TRUE(eventually(10s, [] { return test::orphans("mqbridge-worker").empty(); }));
  EXPECT_EQ(victim_.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, CrashTest,
                         testing::Values(Crash{"Segv", SIGSEGV, "0"},
                                         Crash{"SegvWithACoreFile", SIGSEGV, "unlimited"},
                                         Crash{"Abrt", SIGABRT, "0"},
                                         Crash{"AbrtWithACoreFile", SIGABRT, "unlimited"},
                                         Crash{"BusWithASmallCoreFile", SIGBUS, "8"}),
                         [](const auto& crash) { return std::string(crash.param.name); });

/// Two endpoints at which nobody ever answers, one after the other: connections, and no target.
class NoTargetYetTest : public testing::Test {
protected:
  /// `timeout`: of each, in seconds.
  void begin_dump(const std::string& timeout) {
    terminal_.type(command_line({"dump", "--jobs", "1", "--timeout", timeout, silent_.endpoint(),
                                 also_silent_.endpoint()}) +
                   "; echo status=$?\n");
    ASSERT_TRUE(eventually(20s, [this] { return connected_ > 0; })) << terminal_.shown();
    const auto mqbridge = test::descendant_named(terminal_.shell(), "mqbridge");
    ASSERT_TRUE(mqbridge);
    mqbridge_ = *mqbridge;
  }
  void serve(int socket) {
    ++connected_;
    char byte = 0;
    while (recv(socket, &byte, 1, 0) > 0) {
    }
  }
  bool stands_still(std::chrono::milliseconds limit) const {
    return eventually(limit, [this] { return process_state(mqbridge_) == 'T'; });
  }
  /// It goes on where it was, and says of both what there is to say.
  void continue_to_the_end() {
    terminal_.type("fg; echo end=$?\n");
    EXPECT_TRUE(terminal_.shows("end=3", 60s)) << terminal_.shown();
    EXPECT_THAT(terminal_.shown(), HasSubstr("stub.not_a_stub"));
    EXPECT_EQ(connected_, 2);
  }

  std::atomic<int> connected_ = 0;
  pid_t mqbridge_ = 0;
  Terminal terminal_;

private:
  FakeServer silent_{[this](int socket) { serve(socket); }};
  FakeServer also_silent_{[this](int socket) { serve(socket); }};
};

TEST_F(NoTargetYetTest, CtrlZSuspendsBetweenTwoConnectionsAndFgGoesOn) {
  ASSERT_NO_FATAL_FAILURE(begin_dump("2"));
  terminal_.type(Terminal::ctrl_z);
  ASSERT_TRUE(stands_still(20s)) << terminal_.shown();
  EXPECT_EQ(connected_, 1) << "not while it is suspended";
  continue_to_the_end();
}

TEST_F(NoTargetYetTest, CtrlZTwiceSuspendsAtOnceAndFgGoesOn) {
  ASSERT_NO_FATAL_FAILURE(begin_dump("5"));
  terminal_.type(Terminal::ctrl_z);
  EXPECT_FALSE(stands_still(300ms));
  terminal_.type(Terminal::ctrl_z);
  ASSERT_TRUE(stands_still(3s)) << "long before the first is given up: " << terminal_.shown();
  EXPECT_EQ(connected_, 1);
  continue_to_the_end();
}

} // namespace
} // namespace mqbridge::e2e
