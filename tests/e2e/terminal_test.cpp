// mqbridge as a job of a shell in a terminal, with a target that is held all the while: keys, a
// window that is closed, and suspension. The target runs on whatever the user does.

#include "bench/delaying_link/delaying_link.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/terminal.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <string>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using bench::DelayingLink;
using test::eventually;
using test::GdbServer;
using test::process_state;
using test::ServerMode;
using testing::HasSubstr;

/// A long link, so that a dump takes seconds, and a shell that has begun one.
class TerminalTest : public testing::Test {
protected:
  void SetUp() override {
    auto link =
        DelayingLink::open(fmt::format("127.0.0.1:{}", server_.port()), {.round_trip = 100ms});
    ASSERT_TRUE(link) << link.error().message;
    link_ = std::move(*link);
  }

  /// Returns when the target is held and is being read.
  void begin_dump() {
    const auto command = mqbridge_command({"dump", link_->endpoint(), "--trace", trace()});
    std::string line;
    for (const std::string& word : command.argv)
      line += word + " ";
    terminal_.type(line + "; echo status=$?\n");
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

private:
  std::string trace() const { return (directory_ / "trace").string(); }
  bool trace_shows(std::string_view text) const {
    std::stringstream all;
    all << std::ifstream(trace()).rdbuf();
    return all.str().find(text) != std::string::npos;
  }

  test::TempDirectory directory_;
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

} // namespace
} // namespace mqbridge::e2e
